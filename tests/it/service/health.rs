//! `phileas health`, as an orchestrator asks.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use tempfile::tempdir;

use super::served::Service;
use crate::support::Phileas;

#[test]
fn a_running_service_is_well_and_an_ended_one_is_not() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let public = service.public.to_string();
    let everywhere = format!("0.0.0.0:{}", service.public.port());
    let admin = service.admin.to_string();
    for listen in [&public, &everywhere, &admin] {
        for more in [&[][..], &["--ready"]] {
            let words = [&["health", "--listen", listen], more].concat();
            Phileas::new(&words).run().expect(0);
        }
    }
    let ended = Phileas::new(&["health"])
        .env("PHILEAS_LISTEN", &public)
        .run()
        .expect(0);
    assert_eq!(ended.out, format!("well: http://{public}/healthz\n"));

    let config = data.path().join("phileas.toml");
    std::fs::write(&config, format!("listen = \"{public}\"\n")).unwrap();
    let by_file = ["health", "--config", config.to_str().unwrap()];
    Phileas::new(&by_file).run().expect(0);

    assert_eq!(service.terminate().code(), Some(0));
    let ended = Phileas::new(&by_file).run().expect(1);
    assert!(ended.err.contains("does not answer"), "{ended}");
    assert!(ended.err.contains(&public), "{ended}");
}

#[test]
fn a_service_that_says_no_is_not_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 1024];
        let read = stream.read(&mut head).unwrap();
        let no = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(no).unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let ended = Phileas::new(&["health", "--ready", "--listen", &address])
        .run()
        .expect(1);
    assert!(ended.err.contains("answers 503"), "{ended}");
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("GET /readyz HTTP/1.1\r\n"), "{asked}");
}

#[test]
fn a_wrong_address_is_usage() {
    for listen in ["127.0.0.1:0", "nowhere"] {
        let ended = Phileas::new(&["health", "--listen", listen])
            .run()
            .expect(2);
        assert!(ended.err.contains(listen), "{ended}");
    }
}
