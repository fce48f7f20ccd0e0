//! Tests of the dashboard through its router: what it shows, to which clients, and what it refuses.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Checks, Ledger, Mergeable, Pull, PullState, Repository, Snapshot};
use phileas_domain::model::{PullNumber, RepositoryId, Tree};
use phileas_domain::state::{State, WorkFacts, WorkState, codec};
use phileas_domain::work::JULES_BOT_ID;
use secrecy::SecretString;
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::summary::Summary;
use super::{Access, Board, Dashboard, routes};
use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
use crate::adapters::pause::SystemPause;
use crate::runtime::TickReport;
use crate::runtime::inbox::{Delivery, Inbox as _};
use crate::server::admin::audit::{AUDIT_FILE, Audit};
use crate::server::public::counters::Figures;
use crate::server::shutdown::{ShutdownTrigger, shutdown_pair};

const TOKEN: &str = "a-test-token-of-the-admin";
const HOST: &str = "127.0.0.1:9090";
const HOSTILE: &str = "</title><script>alert(1)</script>\"'onload=";

struct Stand {
    router: Router,
    inbox: Arc<SqliteInbox>,
    board: Arc<Board>,
    figures: Arc<Figures>,
    folder: TempDir,
    _end: ShutdownTrigger,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Stand {
    fn new(token: Option<&str>) -> Self {
        Self::with_pages(token, Some("https://github.com"))
    }

    /// `github`: the address of GitHub's pages.
    fn with_pages(token: Option<&str>, github: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDirectory::lock_directory(folder.path()).unwrap();
        let inbox = SqliteInbox::open(directory, DEFAULT_ROOM, Timestamp::now()).unwrap();
        let inbox = Arc::new(inbox);
        let (end, asked) = shutdown_pair();
        let figures = Arc::new(Figures::default());
        let board = Arc::new(Board::default());
        let dashboard = Dashboard {
            inbox: Arc::clone(&inbox),
            board: Arc::clone(&board),
            repositories: None,
            clock: Arc::new(SystemPause),
            access: Arc::new(
                Access::new(HOST.parse().unwrap(), token.map(SecretString::from), []).unwrap(),
            ),
            audit: Arc::new(Audit::open(folder.path()).unwrap()),
            figures: Arc::clone(&figures),
            heartbeat: Arc::default(),
            github: github.map(str::to_owned),
            ending: asked,
        };
        Self {
            router: routes(dashboard, Router::new()),
            inbox,
            board,
            figures,
            folder,
            _end: end,
        }
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", HOST);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("accept", "text/html")], "").await
    }

    async fn receive_event(&self, event: &str) {
        let delivery = Delivery {
            id: "11111111-2222-3333-4444-555555555555".parse().unwrap(),
            event: event.to_owned(),
            action: Some(HOSTILE.to_owned()),
            repository: Some(RepositoryId(7)),
            repository_name: Some("acme/widget".parse().unwrap()),
            installation: None,
            subject: None,
            sender: None,
            received_at: Timestamp::now(),
            wakes: true,
        };
        self.inbox.accept_delivery(delivery).await.unwrap();
    }

    fn audit(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.path().join(AUDIT_FILE)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The token that the forms of a page carry.
fn page_csrf(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn what_others_say_stays_text() {
    let stand = Stand::new(None);
    stand.receive_event("issues").await;
    let page = stand.get("/deliveries").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.contains("alert(1)"), "{}", page.text);
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    assert!(!page.text.contains("\"'onload"), "{}", page.text);
    let front = stand.get("/?q=%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert!(front.text.contains("alert(1)") && !front.text.contains("<script>alert"));
}

/// A tick of the repository 7 has seen these open pull requests of Jules.
fn checked(pulls: Vec<Pull>, work: WorkState) -> TickReport {
    let state = State {
        work,
        ..State::default()
    };
    seen(pulls, state)
}

fn seen(pulls: Vec<Pull>, state: State) -> TickReport {
    let now = Timestamp::now();
    let repository = Repository {
        id: RepositoryId(7),
        name: "acme/widget".parse().unwrap(),
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: None,
        default_checks: Checks::None,
    };
    let mut snapshot = Snapshot::unread(now, repository, Tree::new());
    let pulls = pulls.into_iter().map(|pull| (pull.number, pull));
    snapshot.pulls = pulls.collect();
    snapshot.ledger = Ledger::Present {
        head: "1f".into(),
        state: Box::new(state),
    };
    TickReport {
        seen: Some(Box::new(snapshot)),
        ..TickReport::default()
    }
}

fn pull_of_jules(number: u64, title: &str) -> Pull {
    Pull {
        number: PullNumber(number),
        state: PullState::Open,
        draft: false,
        title: title.to_owned(),
        body: String::new(),
        author: "google-labs-jules[bot]".into(),
        bot_id: Some(JULES_BOT_ID),
        head: "topic".into(),
        head_oid: "2f".into(),
        same_repository: true,
        base: "main".into(),
        created_at: Timestamp::now() - SignedDuration::from_hours(50),
        closed_at: None,
        reviewed: false,
        checks: Checks::Passed,
        mergeable: Mergeable::Yes,
    }
}

#[tokio::test]
async fn the_review_page_has_each_open_pull_request_with_what_settles_it() {
    const PATH: &str = "/repositories/7/review";
    let stand = Stand::new(None);
    stand.receive_event("issues").await;
    let unseen = stand.get(PATH).await;
    assert_eq!(unseen.status, StatusCode::OK);
    assert!(
        unseen.text.contains("Nothing to show yet"),
        "{}",
        unseen.text
    );
    let other = stand.get("/repositories/8/review").await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);

    let sandbox = Stand::with_pages(None, None);
    sandbox.receive_event("issues").await;
    let store = |report: TickReport| {
        for board in [&stand.board, &sandbox.board] {
            let summary = Summary::new(&report).unwrap();
            board.store_summary(summary, *report.seen.clone().unwrap());
        }
    };
    store(checked(Vec::new(), WorkState::default()));
    let empty = stand.get(PATH).await.text;
    assert!(empty.contains("Nothing to review"), "{empty}");

    let facts = WorkFacts {
        files: Some(3),
        added: 52,
        removed: 3,
        twin: Some(PullNumber(9)),
        ..WorkFacts::new("2f".into())
    };
    let work = WorkState {
        facts: [(PullNumber(12), facts)].into(),
        ..WorkState::default()
    };
    let pulls = vec![
        pull_of_jules(12, HOSTILE),
        pull_of_jules(9, "Escape quotes"),
    ];
    store(checked(pulls, work));
    let page = stand.get(PATH).await.text;
    assert!(
        page.contains("alert(1)") && !page.contains("<script>alert"),
        "{page}"
    );
    let (_, lanes) = page.split_once("Twins and no-ops").unwrap();
    let (twins, others) = lanes.split_once("Large, protected or unchecked").unwrap();
    for part in [
        "href=\"https://github.com/acme/widget/pull/12\"",
        "same as <a href=\"https://github.com/acme/widget/pull/9\" rel=\"noreferrer\">#9</a>, which is open",
        "3 files, +52 -3",
        "checks passed",
        ">2 d 2 h ago</time>",
        "<code>/phileas refuse duplicate</code>",
    ] {
        assert!(twins.contains(part), "{part}: {twins}");
    }
    assert!(others.contains("#9 Escape quotes</a>"), "{others}");
    assert!(others.contains("size unknown"), "{others}");
    let repository = stand.get("/repositories/7").await.text;
    for part in [
        "href=\"/repositories/7/review\">review (2)</a>",
        ">on GitHub</a>",
    ] {
        assert!(repository.contains(part), "{part}: {repository}");
    }
    // What a sandbox invents has no page anywhere else.
    for (path, part) in [
        (PATH, "same as #9, which is open"),
        ("/repositories/7", "review (2)"),
    ] {
        let page = sandbox.get(path).await.text;
        assert!(page.contains(part), "{part}: {page}");
        assert!(!page.contains("href=\"http"), "{page}");
    }
}

/// Two versions of a prompt, by the sessions of the history.
#[tokio::test]
async fn the_yield_tells_the_versions_of_a_prompt_apart() {
    let stand = Stand::new(None);
    stand.receive_event("issues").await;
    let entry = |session: &str, outcome, prompt| {
        format!(
            "{{\"persona_id\":\"curator\",\"session_id\":\"{session}\",\"pr_number\":{session},\"created_at\":null,\
             \"track\":\"default\",\"outcome\":\"{outcome}\",\"refused\":\"too-large\",\"prompt\":\"{prompt}\"}}"
        )
    };
    let text = format!(
        "{{\"version\":5,\"history\":{{\"0\":{},\"1\":{}}}}}",
        entry("1", "merged", "0a1b2c3d4e5f"),
        entry("2", "rejected", "9f8e7d6c5b4a")
    );
    let state = codec::load(&text).unwrap().state;
    let report = seen(Vec::new(), state);
    let summary = Summary::new(&report).unwrap();
    stand.board.store_summary(summary, *report.seen.unwrap());
    let page = stand.get("/repositories/7").await.text;
    let (_, table) = page.split_once("id=\"yield\"").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    let rows = ["prompt 0a1b2c3d4e5f", "prompt 9f8e7d6c5b4a"];
    for row in rows {
        let row = format!("<tr class=\"prompt\"><th scope=\"row\">{row}</th>");
        assert!(table.contains(&row), "{row}: {table}");
    }
    assert!(table.contains("<td class=\"n\">0.50</td>"), "{table}");
    assert_eq!(
        table
            .matches("<td class=\"words\">too-large 1</td>")
            .count(),
        3,
        "{table}"
    );
}

/// The service does not know a repository whose number is invalid.
#[tokio::test]
async fn every_number_that_no_repository_has_is_a_404() {
    let stand = Stand::new(None);
    stand.receive_event("issues").await;
    assert_eq!(stand.get("/repositories/7").await.status, StatusCode::OK);
    let form = page_csrf(&stand.get("/repositories/7").await.text);
    let form = format!("csrf={form}");
    for number in [
        "8",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "+7",
        "7.0",
        "0x7",
        "acme",
        "%ff",
        "%00",
        "7%20",
    ] {
        let page = format!("/repositories/{number}");
        let answer = stand.get(&page).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{page}");
        assert!(
            answer.text.contains("No such repository"),
            "{page}: {}",
            answer.text
        );
        for action in ["check", "pause", "unpause"] {
            let path = format!("{page}/{action}");
            let answer = stand.ask("POST", &path, &[], &form).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        }
    }
    let path = "/repositories/18446744073709551615/resume";
    let answer = stand.ask("POST", path, &[], &form).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

/// Every page shows that deliveries are refused; without the token nothing is shown.
#[tokio::test]
async fn each_page_says_what_is_wrong_with_the_service() {
    const ALERT: &str = "The service needs attention";
    let stand = Stand::new(None);
    stand.receive_event("issues").await;
    let pages = ["/", "/deliveries", "/repositories/7", "/repositories/1"];
    for path in pages {
        let page = stand.get(path).await.text;
        assert!(!page.contains(ALERT), "{path}: {page}");
    }
    // Any host can send one.
    for _ in 0..2 {
        stand.figures.wrong_signature.count();
        stand.figures.unsigned.count();
    }
    for path in pages {
        let page = stand.get(path).await.text;
        assert!(!page.contains(ALERT), "{path}: {page}");
    }
    stand.figures.wrong_signature.count();
    for path in pages {
        let page = stand.get(path).await.text;
        let (_, alert) = page.split_once(ALERT).expect(path);
        let (alert, _) = alert.split_once("</section>").unwrap();
        assert!(
            alert
                .contains("3 deliveries were refused in the last hour: signed with another secret"),
            "{alert}"
        );
        assert!(alert.contains("href=\"/deliveries\""), "{alert}");
    }
    let guarded = Stand::new(Some(TOKEN));
    for _ in 0..3 {
        guarded.figures.wrong_signature.count();
    }
    let login = guarded.get("/login").await.text;
    assert!(!login.contains(ALERT), "{login}");
}

#[tokio::test]
async fn every_answer_is_sealed() {
    let stand = Stand::new(None);
    for path in ["/", "/deliveries", "/nowhere", "/repositories/1", "/login"] {
        let answer = stand.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(
            answer.headers["x-content-type-options"], "nosniff",
            "{path}"
        );
        assert_eq!(answer.headers["referrer-policy"], "same-origin", "{path}");
        assert_eq!(answer.headers["cache-control"], "no-store", "{path}");
        assert!(!answer.text.contains(" style="), "{path}");
        assert!(!answer.text.contains("<style"), "{path}");
    }
    let page = stand.get("/").await.text;
    let (_, rest) = page.split_once("rel=\"stylesheet\" href=\"").unwrap();
    let style = stand.get(rest.split('"').next().unwrap()).await;
    assert!(
        style.headers["cache-control"]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
    assert!(!style.text.contains("url(") && !style.text.contains("@import"));
}

#[tokio::test]
async fn r26_without_the_token_nothing_is_shown_or_done() {
    let stand = Stand::new(Some(TOKEN));
    stand.receive_event("issues").await;
    for path in [
        "/",
        "/deliveries",
        "/repositories/7",
        "/repositories/7/review",
    ] {
        let answer = stand.get(path).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}");
        let wanted = path.replace('/', "%2F");
        assert_eq!(answer.headers["location"], format!("/login?next={wanted}"));
    }
    let events = stand.ask("GET", "/events?topic=inbox", &[], "").await;
    assert_eq!(events.status, StatusCode::UNAUTHORIZED);
    let replay = stand.ask("POST", "/deliveries/replay", &[], "id=x").await;
    assert_eq!(replay.status, StatusCode::UNAUTHORIZED);
    let wrong = [("authorization", "Bearer wrong-wrong-wrong-wrong")];
    assert_eq!(
        stand.ask("GET", "/", &wrong, "").await.status,
        StatusCode::UNAUTHORIZED
    );
    let right = format!("Bearer {TOKEN}");
    let right = [
        ("authorization", right.as_str()),
        ("host", "phileas.internal"),
    ];
    assert_eq!(
        stand.ask("GET", "/", &right, "").await.status,
        StatusCode::OK
    );
    let audit = stand.audit();
    assert_eq!(audit.len(), 1, "{audit:?}");
    assert_eq!(
        (&audit[0]["what"], &audit[0]["result"]),
        (&"bearer".into(), &"refused".into())
    );
}

#[tokio::test]
async fn a_person_signs_in_acts_and_signs_out() {
    let stand = Stand::new(Some(TOKEN));
    stand.receive_event("issues").await;
    let form = page_csrf(&stand.get("/login").await.text);
    let body = |token: &str| format!("csrf={form}&token={token}");
    let wrong = stand.ask("POST", "/login", &[], &body("wrong")).await;
    assert!(wrong.text.contains("not the admin token"));
    let forged = stand
        .ask("POST", "/login", &[], &format!("token={TOKEN}"))
        .await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    assert!(forged.text.contains("too old") && forged.text.contains("href=\"/\""));
    let page = stand
        .get("/login?next=%2Frepositories%2F7%3Fdone%3Dcheck")
        .await
        .text;
    assert!(
        page.contains("name=\"next\" value=\"/repositories/7?done=check\""),
        "{page}"
    );
    for elsewhere in [
        "//evil.example/",
        "https://evil.example",
        "/repositories/\\evil",
    ] {
        let away = format!("{}&next={elsewhere}", body(TOKEN));
        let away = stand.ask("POST", "/login", &[], &away).await;
        assert_eq!(away.headers["location"], "/", "{elsewhere}");
    }
    // Pasted with a line end, and with a page to return to.
    let pasted = format!("{}%0A&next=%2Fdeliveries", body(TOKEN));
    let right = stand.ask("POST", "/login", &[], &pasted).await;
    assert_eq!(right.status, StatusCode::SEE_OTHER);
    assert_eq!(right.headers["location"], "/deliveries");
    let cookie = right.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(!cookie.contains(TOKEN));
    let cookie = cookie.split(';').next().unwrap();
    let signed = [("cookie", cookie), ("accept", "text/html")];
    let page = stand.ask("GET", "/deliveries", &signed, "").await;
    assert_eq!(page.status, StatusCode::OK);
    let own = page_csrf(&page.text);
    let replay = format!("csrf={own}&id=11111111-2222-3333-4444-555555555555");
    let other_origin = [("cookie", cookie), ("origin", "http://evil.example")];
    let refused = stand
        .ask("POST", "/deliveries/replay", &other_origin, &replay)
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let unmarked = stand
        .ask(
            "POST",
            "/deliveries/replay",
            &signed,
            "id=11111111-2222-3333-4444-555555555555",
        )
        .await;
    assert_eq!(unmarked.status, StatusCode::FORBIDDEN);
    let done = stand
        .ask("POST", "/deliveries/replay", &signed, &replay)
        .await;
    assert_eq!(done.headers["location"], "/deliveries?done=replay");
    let out = stand
        .ask("POST", "/logout", &signed, &format!("csrf={own}"))
        .await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    let after = stand.ask("GET", "/", &signed, "").await;
    assert_eq!(after.status, StatusCode::SEE_OTHER);
    let actions: Vec<_> = stand
        .audit()
        .iter()
        .map(|entry| {
            format!(
                "{} {}",
                entry["what"].as_str().unwrap(),
                entry["result"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        actions,
        [
            "login refused",
            "login done",
            "login done",
            "login done",
            "login done",
            "replay done",
            "logout done"
        ]
    );
}

#[tokio::test]
async fn a_rebound_name_is_not_served() {
    let stand = Stand::new(None);
    let rebound = stand
        .ask("GET", "/", &[("host", "evil.example:9090")], "")
        .await;
    assert_eq!(rebound.status, StatusCode::MISDIRECTED_REQUEST);
    // A rebound page counts as its own origin, so it may send any header.
    for credential in ["Basic eDp5", "Bearer x", "Bearer", ""] {
        let dressed = [("host", "evil.example:9090"), ("authorization", credential)];
        let dressed = stand.ask("GET", "/deliveries", &dressed, "").await;
        assert_eq!(
            dressed.status,
            StatusCode::MISDIRECTED_REQUEST,
            "{credential}"
        );
        let own_name = [("authorization", credential)];
        let own_name = stand.ask("GET", "/deliveries", &own_name, "").await;
        assert_eq!(own_name.status, StatusCode::UNAUTHORIZED, "{credential}");
    }
    let forged = stand.ask("POST", "/repositories/7/resume", &[], "").await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let crossed = [("sec-fetch-site", "cross-site")];
    let crossed = stand
        .ask("POST", "/repositories/7/resume", &crossed, "")
        .await;
    assert_eq!(crossed.status, StatusCode::FORBIDDEN);
}
