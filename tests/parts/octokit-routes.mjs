// The other routes of the GitHub model, each once, in the order in which one makes what the next one reads.
// Of interest through Prism: every answer is held against GitHub's description.
//
//   node tests/parts/with-world.mjs node tests/parts/octokit-routes.mjs
import './no-words.mjs';
import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { Octokit } from '@octokit/core';
import { act, world } from './world.mjs';

const octokit = new Octokit({
  auth: world.token,
  baseUrl: process.env.GITHUB_FACE ?? world.github,
  log: { debug() {}, info() {}, warn() {}, error() {} },
});
const REPO = '/repos/{owner}/{repo}';
// What later routes need of earlier ones' answers.
const known = { owner: world.owner, repo: world.repo, branch: 'routes', label: 'routes:label' };

/** A route, its parameters, the status that it must answer, and what to remember of the answer. */
const route = (name, parameters = () => ({}), status = 200, remember = () => ({})) => (
  test(name, { timeout: 120_000 }, async () => {
    const answer = await octokit.request(name.replace(' ~', ` ${REPO}`), { owner: known.owner, repo: known.repo, ...parameters(known) })
      .catch((error) => (error.status === status ? error.response : Promise.reject(error)));
    assert.equal(answer.status, status);
    Object.assign(known, remember(answer.data));
  }));

before(async () => {
  const { data } = await octokit.request(`GET ${REPO}`, known);
  const head = await octokit.request(`GET ${REPO}/git/ref/{ref}`, { ...known, ref: `heads/${data.default_branch}` });
  Object.assign(known, { main: data.default_branch, head: head.data.object.sha });
});

route('GET /user', undefined, 200, ({ login }) => ({ login }));
route('GET /users/{username}', ({ login }) => ({ username: login }));
route('GET /user/repos');
route('GET /rate_limit');
route('GET /meta');

route('GET ~/collaborators');
route('GET ~/collaborators/{username}', ({ login }) => ({ username: login }), 204);
route('GET ~/branches');
route('GET ~/branches/{branch}', ({ main }) => ({ branch: main }));
route('GET ~/readme', undefined, 200);
test('a branch is ruled and protected', () => act({ act: 'protect-branch', branch: 'main', rules: ['deletion', 'non_fast_forward'], classic: {} }));
route('GET ~/rules/branches/{branch}', ({ main }) => ({ branch: main }));
route('GET ~/branches/{branch}/protection', ({ main }) => ({ branch: main }));

route('POST ~/labels', ({ label }) => ({ name: label, color: '5319e7' }), 201);
route('GET ~/labels');
route('GET ~/labels/{name}', ({ label }) => ({ name: label }));
route('PATCH ~/labels/{name}', ({ label }) => ({ name: label, description: 'changed' }));

route('POST ~/actions/variables', () => ({ name: 'ROUTES', value: '1' }), 201);
route('GET ~/actions/variables');
route('PATCH ~/actions/variables/{name}', () => ({ name: 'ROUTES', value: '2' }), 204);
route('DELETE ~/actions/variables/{name}', () => ({ name: 'ROUTES' }), 204);

route('POST ~/git/refs', ({ branch, head }) => ({ ref: `refs/heads/${branch}`, sha: head }), 201);
route('GET ~/git/matching-refs/{ref}', ({ branch }) => ({ ref: `heads/${branch}` }));
route('PUT ~/contents/{path}', ({ branch }) => ({ path: 'routes/a.txt', branch, message: 'routes: Add a', content: 'YQo=' }), 201,
  ({ content, commit }) => ({ file: content.sha, tip: commit.sha }));
route('PUT ~/contents/{path}', ({ branch, file }) => ({ path: 'routes/a.txt', branch, message: 'routes: Change a', content: 'Ygo=', sha: file }), 200,
  ({ content, commit }) => ({ file: content.sha, tip: commit.sha }));
route('PUT ~/contents/{path}', ({ branch }) => ({ path: 'routes/b.txt', branch, message: 'routes: Add b', content: 'Ygo=' }), 201);
route('DELETE ~/contents/{path}', ({ branch, file }) => ({ path: 'routes/a.txt', branch, message: 'routes: Remove a', sha: file }), 200,
  ({ commit }) => ({ tip: commit.sha }));
route('GET ~/commits');
route('GET ~/commits/{ref}', ({ tip }) => ({ ref: tip }));
route('GET ~/compare/{basehead}', ({ main, branch }) => ({ basehead: `${main}...${branch}` }));

route('POST ~/statuses/{sha}', ({ tip }) => ({ sha: tip, state: 'success', context: 'routes' }), 201);
route('GET ~/commits/{ref}/status', ({ tip }) => ({ ref: tip }));
route('GET ~/commits/{ref}/statuses', ({ tip }) => ({ ref: tip }));
route('GET ~/commits/{ref}/check-runs', ({ tip }) => ({ ref: tip }));
route('GET ~/commits/{ref}/check-suites', ({ tip }) => ({ ref: tip }));

route('POST ~/pulls', ({ main, branch }) => ({ title: 'Routes', head: branch, base: main, body: 'All of them.' }), 201,
  ({ number }) => ({ pull_number: number, issue_number: number }));
const pull = ({ pull_number }) => ({ pull_number });
const issue = ({ issue_number }) => ({ issue_number });
route('GET ~/pulls/{pull_number}', pull);
route('PATCH ~/pulls/{pull_number}', (all) => ({ ...pull(all), title: 'Routes, all of them' }));
route('GET ~/pulls/{pull_number}/commits', pull);
route('GET ~/pulls/{pull_number}/files', pull);
route('GET ~/commits/{commit_sha}/pulls', ({ tip }) => ({ commit_sha: tip }));
route('POST ~/pulls/{pull_number}/reviews', (all) => ({ ...pull(all), event: 'COMMENT', body: 'Seen.' }), 200, ({ id }) => ({ review_id: id }));
route('GET ~/pulls/{pull_number}/reviews', pull);
route('GET ~/pulls/{pull_number}/reviews/{review_id}', (all) => ({ ...pull(all), review_id: all.review_id }));
route('GET ~/pulls/{pull_number}/comments', pull);
route('GET ~/pulls/{pull_number}/requested_reviewers', pull);
route('GET ~/pulls/{pull_number}/merge', pull, 404);

route('GET ~/issues/{issue_number}', issue);
route('PUT ~/issues/{issue_number}/labels', (all) => ({ ...issue(all), labels: [all.label] }));
route('GET ~/issues/{issue_number}/labels', issue);
route('DELETE ~/issues/{issue_number}/labels', issue, 204);
route('POST ~/issues/{issue_number}/assignees', (all) => ({ ...issue(all), assignees: [all.login] }), 201);
route('POST ~/issues/{issue_number}/comments', (all) => ({ ...issue(all), body: 'A word.' }), 201, ({ id }) => ({ comment_id: id }));
const comment = ({ comment_id }) => ({ comment_id });
route('GET ~/issues/comments');
route('GET ~/issues/comments/{comment_id}', comment);
route('POST ~/issues/comments/{comment_id}/reactions', (all) => ({ ...comment(all), content: 'eyes' }), 201);
route('GET ~/issues/comments/{comment_id}/reactions', comment);
route('DELETE ~/issues/comments/{comment_id}', comment, 204);
route('POST ~/issues/{issue_number}/reactions', (all) => ({ ...issue(all), content: 'rocket' }), 201);
route('GET ~/issues/{issue_number}/reactions', issue);
route('GET ~/issues/{issue_number}/events', issue);
route('GET ~/issues/{issue_number}/timeline', issue);
route('GET ~/issues');

route('PUT ~/pulls/{pull_number}/merge', (all) => ({ ...pull(all), sha: all.tip, merge_method: 'squash' }));
route('GET ~/pulls/{pull_number}/merge', pull, 204);
route('DELETE ~/git/refs/{ref}', ({ branch }) => ({ ref: `heads/${branch}` }), 204);
route('DELETE ~/labels/{name}', ({ label }) => ({ name: label }), 204);

route('POST ~/hooks', () => ({ name: 'web', events: ['push'], active: true, config: { url: 'http://127.0.0.1:9/webhook', content_type: 'json', secret: 'parts-secret' } }),
  201, ({ id }) => ({ hook_id: id }));
const hook = ({ hook_id }) => ({ hook_id });
route('GET ~/hooks');
route('GET ~/hooks/{hook_id}', hook);
route('PATCH ~/hooks/{hook_id}', (all) => ({ ...hook(all), events: ['push', 'issues'] }));
route('POST ~/hooks/{hook_id}/pings', hook, 204);
route('GET ~/hooks/{hook_id}/deliveries', hook);
route('DELETE ~/hooks/{hook_id}', hook, 204);

test('a workflow runs', () => act({ act: 'run-workflow', path: '.github/workflows/routes.yml', conclusion: 'success' }));
route('GET ~/actions/workflows', undefined, 200, ({ workflows: [{ id }] }) => ({ workflow_id: id }));
const workflow = ({ workflow_id }) => ({ workflow_id });
route('GET ~/actions/workflows/{workflow_id}', workflow);
route('GET ~/actions/workflows/{workflow_id}/runs', workflow);
route('PUT ~/actions/workflows/{workflow_id}/disable', workflow, 204);
route('PUT ~/actions/workflows/{workflow_id}/enable', workflow, 204);
route('GET ~/actions/runs');
route('GET ~/releases');
route('GET ~/releases/latest', undefined, 404);
test('a release is published', () => act({ act: 'publish-release', tag: 'v0.0.1', assets: { 'SHA256SUMS': 'AAo=' } }));
route('GET ~/releases/tags/{tag}', () => ({ tag: 'v0.0.1' }), 200, ({ id, assets: [asset] }) => ({ release_id: id, asset_id: asset.id }));
route('GET ~/releases/latest');
route('GET ~/releases/{release_id}', ({ release_id }) => ({ release_id }));
route('GET ~/releases/{release_id}/assets', ({ release_id }) => ({ release_id }));
route('GET ~/releases/assets/{asset_id}', ({ asset_id }) => ({ asset_id }));
