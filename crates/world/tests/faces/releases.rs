//! Tests of downloads of a release's files.

use data_encoding::BASE64;
use serde_json::json;

use crate::bench::{Reply, Served, seeded_world};

const PAGE: &str = "/octo/garden/releases/download/v1.2.3/tool";

fn published_release() -> Served {
    let served = Served::serve_world(seeded_world().0);
    let act_json = json!({
        "act": "publish-release", "tag": "v1.2.3", "assets": {"tool": BASE64.encode(b"#!/bin/sh\n\xff")},
    });
    let reply = served.post_control("act", &act_json.to_string());
    assert_eq!(reply.status, 200, "{}", reply.json());
    served
}

fn get(served: &Served, path: &str, headers: &str) -> Reply {
    served.send_request("GET", path, headers, b"").unwrap()
}

/// Path and query of the address that an answer leads to.
#[track_caller]
fn location_path(reply: &Reply) -> String {
    assert_eq!(reply.status, 302);
    let address = reply.header("location").unwrap();
    let (_, rest) = address.split_once("://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

#[test]
fn a_download_leads_to_the_storage_which_wants_no_credential() {
    let served = published_release();
    let storage = location_path(&get(&served, PAGE, ""));
    let file = get(&served, &storage, "");
    assert_eq!(
        (file.status, &file.body[..]),
        (200, &b"#!/bin/sh\n\xff"[..])
    );
    let token = "authorization: Bearer gale-token\r\n";
    assert_eq!(get(&served, &storage, token).status, 400);
    let forged = storage.replace("sig=", "sig=0");
    assert_eq!(get(&served, &forged, "").status, 403);
    served.post_control("advance", r#"{"by": "10m"}"#);
    assert_eq!(get(&served, &storage, "").status, 403);
    for missing in ["v1.2.3/other", "v9.9.9/tool"] {
        let path = format!("/octo/garden/releases/download/{missing}");
        assert_eq!(get(&served, &path, "").status, 404, "{missing}");
    }
}

#[test]
fn the_api_leads_there_too() {
    let served = published_release();
    let release = get(&served, "/repos/octo/garden/releases/tags/v1.2.3", "").json();
    let asset = &release["assets"][0];
    assert_eq!(asset["name"], "tool");
    let path = format!("/repos/octo/garden/releases/assets/{}", asset["id"]);
    assert_eq!(get(&served, &path, "").json()["size"], 11);
    let reply = get(&served, &path, "accept: application/octet-stream\r\n");
    let file = get(&served, &location_path(&reply), "");
    assert_eq!(&file.body[..], b"#!/bin/sh\n\xff");
}

#[test]
fn a_private_repository_shows_no_page() {
    let served = published_release();
    served.post_control("act", r#"{"act": "set-private", "private": true}"#);
    for headers in ["", "authorization: Bearer gale-token\r\n"] {
        assert_eq!(get(&served, PAGE, headers).status, 404);
    }
    let act_json = r#"{"act": "publish-release", "tag": "v2", "assets": {"tool": "%"}}"#;
    assert_eq!(served.post_control("act", act_json).status, 400);
}
