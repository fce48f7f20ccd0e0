//! Tests of GitHub Apps in a served world: made from a manifest, and installed.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use phileas_world::github::NewApp;
use phileas_world::seed::{Files, Seed};
use serde_json::{Value, json};

use crate::bench::{Reply, Served, seeded_world};

/// A JSON Web Token of an App with a made-up signature.
fn app_jwt(served: &Served, app: &Value) -> String {
    let now = served.world.lock().unwrap().now().as_second();
    let encode = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let head = encode(json!({"alg": "RS256", "typ": "JWT"}));
    let claims = encode(json!({"iat": now - 60, "exp": now + 540, "iss": app.to_string()}));
    format!("{head}.{claims}.{}", encode(json!("made-up")))
}

fn ask_github(served: &Served, method: &str, path: &str, token: &str) -> Reply {
    let credential = format!("authorization: Bearer {token}\r\n");
    served.send_request(method, path, &credential, b"").unwrap()
}

fn post_act(served: &Served, act_json: &Value) -> Value {
    let reply = served.post_control("act", &act_json.to_string());
    let answer = reply.json();
    assert_eq!(reply.status, 200, "{act_json}: {answer}");
    answer
}

/// The beginning of every RSA key of 2048 bits in its PKCS#1 form, followed by a made-up number.
fn public_key() -> String {
    let mut der = vec![0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00];
    der.extend([0xc5; 256]);
    der.extend([0x02, 0x03, 0x01, 0x00, 0x01]);
    BASE64.encode(&der)
}

/// Makes an App from a manifest, as a browser and a service do it together.
fn make_app(served: &Served, name: &str) -> Reply {
    let manifest = json!({
        "name": name, "url": "https://rake.invalid", "redirect_url": "http://127.0.0.1:1/done",
    });
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("manifest", &manifest.to_string())
        .finish();
    let form = "/settings/apps/new?state=s";
    let back = served
        .send_request("POST", form, "", body.as_bytes())
        .unwrap();
    let location = back.header("location").unwrap();
    let (_, query) = location.split_once("?code=").unwrap();
    let (code, _) = query.split_once('&').unwrap();
    let path = format!("/app-manifests/{code}/conversions");
    served.send_request("POST", &path, "", b"").unwrap()
}

#[test]
fn an_account_has_an_app_once_and_adds_repositories_to_it() {
    let (mut world, _) = seeded_world();
    world.seed(&Seed::new("octo", "orchard", Files::new()));
    let now = world.now();
    let app = NewApp {
        id: 77,
        slug: "mower".to_owned(),
        owner: "gale".to_owned(),
        ..NewApp::default()
    };
    world.github_mut().add_app(app, now);
    let served = Served::serve_world(world);
    let install = |repo: &str| {
        let act_json = json!({"act": "install-app", "repo": repo, "app": 77});
        post_act(&served, &act_json)["installation"].clone()
    };
    let id = install("octo/garden");
    let token = app_jwt(&served, &json!(77));
    let listed = ask_github(&served, "GET", "/app/installations", &token).json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed[0]["id"], &listed[0]["account"]["login"]),
        (&id, &json!("octo"))
    );
    let path = format!("/app/installations/{id}/access_tokens");
    let minted = ask_github(&served, "POST", &path, &token).json();
    let reached = || {
        let token = minted["token"].as_str().unwrap();
        ask_github(&served, "GET", "/installation/repositories", token).json()["total_count"]
            .clone()
    };
    assert_eq!(reached(), 1);
    assert_eq!(install("octo/garden"), id, "it is there already");
    assert_eq!(reached(), 1);
    assert_eq!(install("octo/orchard"), id);
    assert_eq!(reached(), 2);
}

#[test]
fn an_app_made_from_a_manifest_gets_the_key_that_was_given_last_and_is_known_by_it() {
    let served = Served::serve_world(seeded_world().0);
    assert_eq!(make_app(&served, "Rake").status, 422, "there is no key yet");
    for pem in ["first", "second"] {
        let key = json!({"act": "stock-app-key", "pem": pem, "public_key": public_key()});
        post_act(&served, &key);
    }
    let app = make_app(&served, "Rake").json();
    assert_eq!(app["pem"], "second");
    let strange = ask_github(&served, "GET", "/app", &app_jwt(&served, &app["id"]));
    assert_eq!(strange.status, 401, "this is not the key's signature");
    assert_eq!(make_app(&served, "Hoe").json()["pem"], "first");
    assert_eq!(
        make_app(&served, "Saw").status,
        422,
        "each is given out once"
    );
}

#[test]
fn apps_that_are_not_there_and_keys_that_are_none_are_refused() {
    let served = Served::serve_world(seeded_world().0);
    let refused = served.post_control("act", r#"{"act": "install-app", "app": 7}"#);
    assert_eq!(refused.status, 404);
    assert_eq!(refused.json()["error"], "app: there is no App 7");
    // The form in which most libraries export a public key by default.
    let subject_public_key_info = BASE64.encode(&[0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09]);
    for wrong in [
        "",
        "-----BEGIN RSA PUBLIC KEY-----",
        &subject_public_key_info,
    ] {
        let act_json = json!({"act": "stock-app-key", "pem": "test-key", "public_key": wrong});
        let refused = served.post_control("act", &act_json.to_string());
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(refused.status, 400, "{wrong}: {error}");
        assert!(
            error.starts_with("public_key: ") && error.contains("PKCS#1"),
            "{error}"
        );
    }
}
