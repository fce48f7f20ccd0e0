// BENCH=FOLDER_OF_PROBOT SECRET=… node probot.mjs: a Probot app that counts; POST /webhook. Prints where it listens.
import '../no-words.mjs';
import crypto from 'node:crypto';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

const { createNodeMiddleware, createProbot } = await import(
  pathToFileURL(`${process.env.BENCH}/node_modules/probot/lib/index.js`)
);
const { privateKey } = crypto.generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
let seen = 0;
const app = (probot) => probot.on(['issues.labeled', 'pull_request.labeled'], async () => { seen += 1; });
const probot = createProbot({
  // A closed port: nothing of this leaves the machine.
  overrides: { appId: 1, privateKey, secret: process.env.SECRET, logLevel: 'warn', baseUrl: 'http://127.0.0.1:9/' },
});
const middleware = await createNodeMiddleware(app, { probot, webhooksPath: '/webhook' });
const server = http.createServer((request, reply) => middleware(request, reply));
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ listen: `127.0.0.1:${server.address().port}` })));
