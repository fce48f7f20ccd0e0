// Octokit, GitHub's own client, against the GitHub model: does a client that knows nothing of us understand it?
//
//   node tests/parts/with-world.mjs node tests/parts/octokit.mjs
//
// Through Prism (prism.mjs) the same calls also prove that the model answers as GitHub's description says.
import './no-words.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { answerProblems, documentProblems } from './github-schema.mjs';
import { world } from './world.mjs';

const LIMIT = { timeout: 180_000 };
const UNKNOWN_SHA = '0123456789abcdef0123456789abcdef01234567';
const base = { baseUrl: process.env.GITHUB_FACE ?? world.github, log: { debug() {}, info() {}, warn() {}, error() {} } };
const octokit = new (Octokit.plugin(paginateRest))({ ...base, auth: world.token });
const here = { owner: world.owner, repo: world.repo };
const repo = (route, parameters) => octokit.request(route.replace(' /', ' /repos/{owner}/{repo}/').replace(/\/$/, ''), { ...here, ...parameters });
const refused = (status, promise) => assert.rejects(promise, (error) => {
  assert.equal(error.status, status, error.message);
  assert.equal(typeof error.response.data.message, 'string');
  return true;
});
const base64 = (text) => Buffer.from(text).toString('base64');

let main; // The default branch, as the model calls it.

test('the repository, and who may read it', LIMIT, async () => {
  const { data, headers } = await repo('GET /');
  assert.equal(data.full_name, world.repository);
  assert.ok(Number.isSafeInteger(data.id) && data.id > 0);
  assert.ok(!Number.isNaN(Date.parse(headers.date)), 'a Date header, from which phileas takes its time');
  main = data.default_branch;
  await refused(404, octokit.request('GET /repos/{owner}/{repo}', { ...here, repo: 'there-is-none' }));
  await refused(401, new Octokit({ ...base, auth: 'wrong' }).request('GET /repos/{owner}/{repo}', here));
});

test('a reference, with its slash escaped and bare', LIMIT, async () => {
  const escaped = await repo('GET /git/ref/{ref}', { ref: `heads/${main}` });
  const bare = await repo(`GET /git/ref/heads/${main}`);
  assert.equal(escaped.data.ref, `refs/heads/${main}`);
  assert.deepEqual(bare.data, escaped.data);
  await refused(404, repo('GET /git/ref/{ref}', { ref: 'heads/there-is-none' }));
});

test('a file, its folder, and its path escaped and bare', LIMIT, async () => {
  const top = await repo('GET /contents/{path}', { path: '' });
  assert.ok(Array.isArray(top.data) && top.data.length > 0, 'the repository is not empty');
  const { data: { tree } } = await repo('GET /git/trees/{tree_sha}', { tree_sha: main, recursive: '1' });
  const blob = tree.find((entry) => entry.type === 'blob' && entry.path.includes('/'));
  assert.ok(blob, 'there is a file in a folder');
  const escaped = await repo('GET /contents/{path}', { path: blob.path });
  const bare = await repo(`GET /contents/${blob.path}`);
  assert.equal(escaped.data.encoding, 'base64');
  assert.equal(escaped.data.sha, blob.sha);
  assert.equal(bare.data.content, escaped.data.content);
  const stored = await repo('GET /git/blobs/{file_sha}', { file_sha: blob.sha });
  assert.deepEqual(Buffer.from(escaped.data.content, 'base64'), Buffer.from(stored.data.content, 'base64'));
  await refused(404, repo('GET /contents/{path}', { path: 'there/is/none' }));
});

test('a conditional read costs nothing', LIMIT, async () => {
  const { headers } = await repo('GET /');
  assert.ok(headers.etag, 'an ETag');
  await assert.rejects(repo('GET /', { headers: { 'if-none-match': headers.etag } }), { status: 304 });
});

test('a commit made of blob, tree and commit, on a new branch', LIMIT, async () => {
  const head = (await repo('GET /git/ref/{ref}', { ref: `heads/${main}` })).data.object.sha;
  const blob = await repo('POST /git/blobs', { content: base64('Grüße\n'), encoding: 'base64' });
  const parent = await repo('GET /git/commits/{commit_sha}', { commit_sha: head });
  const tree = await repo('POST /git/trees', {
    base_tree: parent.data.tree.sha,
    tree: [{ path: 'notes/greeting.txt', mode: '100644', type: 'blob', sha: blob.data.sha }],
  });
  const commit = await repo('POST /git/commits', { message: 'notes: Greet', tree: tree.data.sha, parents: [head] });
  assert.deepEqual(commit.data.parents.map(({ sha }) => sha), [head]);
  const created = await repo('POST /git/refs', { ref: 'refs/heads/parts', sha: commit.data.sha });
  assert.equal(created.status, 201);
  assert.equal(created.data.object.sha, commit.data.sha);
  const read = await repo('GET /contents/{path}', { path: 'notes/greeting.txt', ref: 'parts' });
  assert.equal(Buffer.from(read.data.content, 'base64').toString(), 'Grüße\n');
  await refused(422, repo('POST /git/refs', { ref: 'refs/heads/parts', sha: head }));
});

test('a reference moves forward, and never back without force', LIMIT, async () => {
  const tip = (await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha;
  const { data } = await repo('GET /git/commits/{commit_sha}', { commit_sha: tip });
  const next = await repo('POST /git/commits', { message: 'notes: Again', tree: data.tree.sha, parents: [tip] });
  const moved = await repo('PATCH /git/refs/{ref}', { ref: 'heads/parts', sha: next.data.sha, force: false });
  assert.equal(moved.data.object.sha, next.data.sha);
  await refused(422, repo('PATCH /git/refs/{ref}', { ref: 'heads/parts', sha: tip, force: false }));
});

const COMMIT = `mutation ($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { clientMutationId commit { oid messageHeadline } ref { name } }
}`;
const commitOn = (branch, expectedHeadOid, path, contents) => ({
  input: {
    branch: { repositoryNameWithOwner: world.repository, branchName: branch },
    message: { headline: 'notes: Through GraphQL', body: 'With a body.' },
    expectedHeadOid,
    fileChanges: { additions: [{ path, contents: base64(contents) }], deletions: [] },
  },
});

test('createCommitOnBranch commits on the head that was expected', LIMIT, async () => {
  const before = (await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha;
  const variables = commitOn('parts', before, 'notes/more.txt', 'more\n');
  const answer = await graphql(COMMIT, variables);
  const { oid } = answer.createCommitOnBranch.commit;
  assert.equal((await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha, oid);
  const { data } = await repo('GET /git/commits/{commit_sha}', { commit_sha: oid });
  assert.equal(data.parents[0].sha, before);
  assert.equal(data.message, 'notes: Through GraphQL\n\nWith a body.');
});

test('createCommitOnBranch refuses a stale head, and changes nothing', LIMIT, async () => {
  const before = (await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha;
  await assert.rejects(octokit.graphql(COMMIT, commitOn('parts', UNKNOWN_SHA, 'notes/lost.txt', 'lost\n')), (error) => {
    assert.equal(error.errors[0].type, 'STALE_DATA', JSON.stringify(error.errors));
    return true;
  });
  assert.equal((await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha, before);
  await refused(404, repo('GET /contents/{path}', { path: 'notes/lost.txt', ref: 'parts' }));
});

test('one GraphQL read answers as the schema says', LIMIT, async () => {
  const query = `query ($owner: String!, $repo: String!, $head: String!) {
    rateLimit { cost remaining resetAt }
    repository(owner: $owner, name: $repo) {
      id databaseId nameWithOwner isPrivate
      defaultBranchRef { name target { oid } }
      branch: ref(qualifiedName: $head) { name target { __typename oid ... on Commit { committedDate
        file(path: "notes/more.txt") { object { ... on Blob { oid text isTruncated } } } } } }
      absent: ref(qualifiedName: "refs/heads/there-is-none") { name }
      pullRequests(first: 5, states: [OPEN]) { totalCount nodes { number title headRefName } pageInfo { hasNextPage endCursor } }
    }
  }`;
  const { repository } = await graphql(query, { ...here, head: 'refs/heads/parts' });
  assert.equal(repository.nameWithOwner, world.repository);
  assert.equal(repository.branch.target.file.object.text, 'more\n');
  assert.equal(repository.absent, null);
});

test('an issue with labels and comments, in pages', LIMIT, async () => {
  await repo('POST /labels', { name: 'parts:check', color: '0e8a16', description: 'made by a check' });
  await refused(422, repo('POST /labels', { name: 'parts:check', color: '0e8a16' }));
  const issue = await repo('POST /issues', { title: 'A question', body: 'Who is it?', labels: [] });
  const here = { issue_number: issue.data.number };
  assert.equal(issue.data.state, 'open');

  const labelled = await repo('POST /issues/{issue_number}/labels', { ...here, labels: ['parts:check'] });
  assert.deepEqual(labelled.data.map(({ name }) => name), ['parts:check']);
  const found = await repo('GET /issues', { labels: 'parts:check', state: 'open' });
  assert.deepEqual(found.data.map(({ number }) => number), [issue.data.number]);
  await repo('DELETE /issues/{issue_number}/labels/{name}', { ...here, name: 'parts:check' });

  const texts = ['one', 'two', 'three', 'four', 'five'];
  for (const body of texts) await repo('POST /issues/{issue_number}/comments', { ...here, body });
  const comments = await octokit.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    owner: world.owner, repo: world.repo, ...here, per_page: 2,
  });
  assert.deepEqual(comments.map(({ body }) => body), texts);
  const edited = await repo('PATCH /issues/comments/{comment_id}', { comment_id: comments[0].id, body: 'one, edited' });
  assert.equal(edited.data.body, 'one, edited');

  const events = await repo('GET /issues/{issue_number}/timeline', here);
  assert.ok(events.data.some(({ event }) => event === 'labeled'), 'the timeline tells of the label');
  const closed = await repo('PATCH /issues/{issue_number}', { ...here, state: 'closed', state_reason: 'completed' });
  assert.equal(closed.data.state, 'closed');
});

test('a pull request, from opening to closing', LIMIT, async () => {
  const opened = await repo('POST /pulls', { title: 'Notes', head: 'parts', base: main, body: 'Two notes.' });
  const here = { pull_number: opened.data.number };
  assert.equal(opened.data.base.ref, main);
  const listed = await repo('GET /pulls', { state: 'open', head: `${world.owner}:parts` });
  assert.deepEqual(listed.data.map(({ number }) => number), [opened.data.number]);
  const { data } = await repo('GET /pulls/{pull_number}', here);
  assert.equal(data.head.sha, (await repo('GET /git/ref/{ref}', { ref: 'heads/parts' })).data.object.sha);
  const files = await repo('GET /pulls/{pull_number}/files', here);
  assert.deepEqual(files.data.map(({ filename }) => filename).sort(), ['notes/greeting.txt', 'notes/more.txt']);
  await refused(409, repo('PUT /pulls/{pull_number}/merge', { ...here, sha: UNKNOWN_SHA }));
  const closed = await repo('PATCH /pulls/{pull_number}', { ...here, state: 'closed' });
  assert.equal(closed.data.state, 'closed');
  assert.equal(closed.data.merged, false);
});

test('who may do what, and the pause variable', LIMIT, async () => {
  const { data: { login } } = await octokit.request('GET /user');
  const { data } = await repo('GET /collaborators/{username}/permission', { username: login });
  assert.ok(['admin', 'write'].includes(data.permission), `${login} may ${data.permission}`);
  await refused(404, repo('GET /actions/variables/{name}', { name: 'PARTS_CHECK' }));
  await repo('POST /actions/variables', { name: 'PARTS_CHECK', value: 'on' });
  const variable = await repo('GET /actions/variables/{name}', { name: 'PARTS_CHECK' });
  assert.equal(variable.data.value, 'on');
});

/** A GraphQL call of which the document and the answer hold against GitHub's schema. */
async function graphql(query, variables) {
  assert.deepEqual(documentProblems(query), []);
  const data = await octokit.graphql(query, variables);
  assert.deepEqual(answerProblems({ query, variables }, { data }), []);
  return data;
}
