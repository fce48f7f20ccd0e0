// Keeps an open page up to date: the server reports a change, and the page reloads its content.
// Without this script every page is the same, only still.
(() => {
  'use strict';
  const QUIET = 1500; // at most one reading in so many milliseconds
  const MINUTE = 60000; // times such as "in 5 min" grow old without any change
  const WORD = 15000; // how long the word about the last form stays
  const main = document.getElementById('main');
  const pulse = document.getElementById('pulse');
  const topic = main && main.dataset.topic;
  if (!topic || !window.fetch || !window.EventSource) return;

  const loaded = Date.now();
  let last = 0;
  let waiting = 0;
  let reading = false;

  const show = (live) => {
    pulse.hidden = false;
    pulse.className = live ? 'live' : 'still';
    pulse.textContent = live ? 'live' : 'not connected';
  };

  // A page must not move under a form that is being filled in, or under text that is being selected.
  const busy = () => {
    const field = document.activeElement;
    const mark = window.getSelection();
    return (field && /^(INPUT|TEXTAREA|SELECT)$/.test(field.tagName)) || (mark && !mark.isCollapsed);
  };

  const nameOf = (element) => {
    if (!element || !main.contains(element)) return null;
    const all = [...main.querySelectorAll(element.tagName)];
    const place = element.getAttribute('href') || element.getAttribute('aria-label') || element.textContent;
    return { tag: element.tagName, place, index: all.indexOf(element) };
  };

  const find = (name) => {
    const all = [...main.querySelectorAll(name.tag)];
    const same = (one) => (one.getAttribute('href') || one.getAttribute('aria-label') || one.textContent) === name.place;
    return all.find(same) || all[name.index];
  };

  const read = async () => {
    waiting = 0;
    if (reading || document.hidden || busy()) return soon();
    reading = true;
    last = Date.now();
    try {
      const address = new URL(location.href);
      address.searchParams.delete('done');
      const answer = await fetch(address, { headers: { accept: 'text/html' }, cache: 'no-store' });
      if (answer.redirected || answer.status === 401) return location.reload();
      // Why the service is away stands on the page that says so.
      if (!answer.ok && answer.status !== 503) return undefined;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById('main');
      if (!fresh) return undefined;
      const focus = nameOf(document.activeElement);
      const scrolled = [...main.querySelectorAll('.scroll')].map((one) => one.scrollLeft);
      const word = Date.now() - loaded < WORD ? main.querySelector('.word') : null;
      main.replaceChildren(...fresh.childNodes);
      if (word) main.prepend(word);
      main.querySelectorAll('.scroll').forEach((one, index) => { one.scrollLeft = scrolled[index] || 0; });
      const again = focus && find(focus);
      if (again) again.focus({ preventScroll: true });
      const time = document.querySelector('.time time');
      const now = page.querySelector('.time time');
      if (time && now) time.replaceWith(now);
    } catch {
      // The service is away; the event source says so.
    } finally {
      reading = false;
    }
    return undefined;
  };

  const soon = () => {
    if (!waiting) waiting = setTimeout(read, Math.max(QUIET - (Date.now() - last), QUIET / 3));
  };

  const source = new EventSource(`/events?topic=${encodeURIComponent(topic)}`);
  source.addEventListener('open', () => show(true));
  source.addEventListener('changed', soon);
  source.addEventListener('reload', soon);
  source.addEventListener('error', () => show(false));
  document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(); });
  setInterval(() => { if (!document.hidden) soon(); }, MINUTE);
})();
