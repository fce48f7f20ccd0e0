//! Outgoing connections behind a company's proxy: the authority that signs is known to the system alone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support::child::Ended;
use crate::support::{Folder, Phileas};

/// What a PostgreSQL client asks before TLS.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-SSLREQUEST>
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A private authority, and a server with a certificate of it that counts the handshakes which clients complete.
struct Company {
    runtime: tokio::runtime::Runtime,
    authority: String,
    config: Arc<ServerConfig>,
}

impl Company {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = "Acme traffic inspection";
        params.distinguished_name.push(DnType::CommonName, name);
        let authority = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let server = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names)
            .unwrap()
            .signed_by(&server, &issuer)
            .unwrap();
        let server = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(server.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], server)
            .unwrap();
        Self {
            runtime: tokio::runtime::Runtime::new().unwrap(),
            authority,
            config: Arc::new(config),
        }
    }

    /// Runs phileas against the server: how it ended, and how many handshakes it completed.
    fn run(&self, program: impl FnOnce(u16) -> Phileas) -> (Ended, usize) {
        let listener = self.runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let serving = self.runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, counted) = (acceptor.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    // A client that does not trust the server ends the connection.
                    let _refused = serve(stream, acceptor, &counted).await;
                });
            }
        });
        let ended = program(port).run();
        serving.abort();
        (ended, count.load(Ordering::SeqCst))
    }
}

async fn serve(mut stream: TcpStream, by: TlsAcceptor, count: &AtomicUsize) -> io::Result<()> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first[0] == SSL_REQUEST[0] {
        let mut request = [0; 8];
        stream.read_exact(&mut request).await?;
        assert_eq!(request, SSL_REQUEST);
        stream.write_all(b"S").await?;
    }
    let mut stream = by.accept(stream).await?;
    // TLS 1.3 tells the server of a refusal with the first bytes after its own part of the handshake.
    let mut request = [0; 4096];
    if stream.read(&mut request).await? > 0 {
        count.fetch_add(1, Ordering::SeqCst);
        let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).await?;
    }
    stream.shutdown().await
}

fn jules(folder: &Folder, port: u16) -> Phileas {
    folder.write("jobs.jsonl", "{\"job_id\": \"1\"}\n");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    // A monitor that remembers an outage asks Jules only later, so each run has a memory of its own.
    let state = format!("state-{port}.json");
    let (jobs, events, state) = (at("jobs.jsonl"), at("events.jsonl"), at(&state));
    let arguments = ["monitor", "--once", "--jobs", &jobs, "--events", &events];
    Phileas::new(&[&arguments[..], &["--state-file", &state]].concat())
        .env("JULES_API_KEY", "test-key")
        .env(
            "JULES_API_BASE",
            &format!("https://localhost:{port}/v1alpha"),
        )
}

fn github(port: u16) -> Phileas {
    let github = format!("https://localhost:{port}");
    Phileas::new(&["tick", "--repo", "acme/widget"])
        .env("GITHUB_TOKEN", "test-token")
        .env("JULES_API_KEY", "test-key")
        .env("GITHUB_API_URL", &github)
        .env("GITHUB_GRAPHQL_URL", &format!("{github}/graphql"))
}

fn postgres(folder: &Folder, port: u16) -> Phileas {
    let url = format!("postgres://ada@localhost:{port}/phileas?sslmode=require");
    let data = folder.join("data");
    Phileas::new(&["serve", "--check", "--database-url", &url, "--data-dir"])
        .with(&[data.to_str().unwrap(), "--listen", "127.0.0.1:0"])
        .env("GITHUB_API_URL", "http://127.0.0.1:1")
}

/// Each of the three clients knew the built-in roots only.
#[test]
fn an_authority_of_the_system_is_trusted_by_every_client() {
    let company = Company::new();
    let folder = Folder::empty();
    folder.write("company.pem", &company.authority);
    folder.write("certificates/one.pem", &company.authority);
    let file = folder.join("company.pem");
    let (file, text) = (file.to_str().unwrap(), folder.text());
    let folders = format!("{text}/certificates");
    let several = format!("/nowhere:{folders}");
    let broken = folder.join("none.pem");
    folder.write("none.pem", "no certificate\n");
    let clients: [(&str, &dyn Fn(u16) -> Phileas); 3] = [
        ("Jules", &|port| jules(&folder, port)),
        ("GitHub", &|port| github(port)),
        ("PostgreSQL", &|port| postgres(&folder, port)),
    ];
    for (name, client) in clients {
        let (ended, count) = company.run(|port| {
            let program = client(port).without("SSL_CERT_FILE");
            program.without("SSL_CERT_DIR")
        });
        assert_eq!(
            count, 0,
            "{name}: an unknown authority is not trusted\n{ended}"
        );
        if name != "PostgreSQL" {
            let said = format!("{}{}", ended.out, ended.err);
            assert!(said.contains("SSL_CERT_FILE"), "{name}: {ended}");
        }
        let by_file = |port| client(port).env("SSL_CERT_FILE", file);
        let (ended, count) = company.run(by_file);
        assert!(count > 0, "{name} by SSL_CERT_FILE\n{ended}");
        let by_folder = |port| {
            let program = client(port).env("SSL_CERT_DIR", &several);
            program.env("SSL_CERT_FILE", broken.to_str().unwrap())
        };
        let (ended, count) = company.run(by_folder);
        assert!(count > 0, "{name} by SSL_CERT_DIR\n{ended}");
    }
}
