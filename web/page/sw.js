"use strict";
// Keeps the files of the page for use without a network; with one, the newest are shown.
const kept = "eccbench";
const files = ["./", "style.css", "page.js", "worker.js", "wasm_exec.js", "eccbench.wasm.gz", "icon.svg"];

self.addEventListener("install", event => {
  event.waitUntil(caches.open(kept).then(cache => cache.addAll(files)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", event => {
  if (event.request.method !== "GET") return;
  event.respondWith(fetch(event.request).then(async answer => {
    if (answer.ok) await (await caches.open(kept)).put(event.request, answer.clone());
    return answer;
  }, () => caches.match(event.request, { ignoreSearch: true })));
});
