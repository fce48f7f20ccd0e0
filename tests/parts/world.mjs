// The world that with-world.mjs started, for the checks that it runs.
const ANSWER_LIMIT_MS = 120_000;
const wanted = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this through tests/parts/with-world.mjs`);
  return value;
};

export const world = {
  github: wanted('WORLD_GITHUB'),
  jules: wanted('WORLD_JULES'),
  token: wanted('WORLD_TOKEN'),
  julesKey: wanted('WORLD_JULES_KEY'),
  repository: wanted('WORLD_REPOSITORY'),
  get owner() { return this.repository.split('/')[0]; },
  get repo() { return this.repository.split('/')[1]; },
};

/** Lets the world's time pass. `by` is a span such as "10m". */
export const advance = (by) => control('POST', 'advance', { by });

/** Lets the world's time pass until it is not behind this machine's; gives it. */
export async function toPresent() {
  const { now } = await control('GET', 'now');
  const present = new Date();
  return present > new Date(now) ? control('POST', 'advance', { to: present.toISOString() }) : { now };
}

/** Replaces the world's fault plan; no rule means that all goes well again. */
export const setFaults = (...rules) => control('POST', 'faults', { rules });

/** Writes the script of sessions to come: `when` says which, the rest how they go. */
export const script = (scenario) => control('POST', 'scenario', scenario);

/** What a person does: `act` names it; the world's own list of acts describes the rest. */
export const act = (action) => control('POST', 'act', action);

/** The webhook deliveries whose time has come, each once. */
export const deliveries = () => control('POST', 'deliveries');

/** Tells what a delivery, by its `id`, was answered with: its `status`. */
export const delivered = (answer) => control('POST', 'delivered', answer);

/** All that has happened in the world, as it tells it. */
export const books = () => control('GET', 'books');

async function control(method, name, body) {
  const reply = await fetch(`${world.github}/__world/${name}`, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`/__world/${name}: ${reply.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}
