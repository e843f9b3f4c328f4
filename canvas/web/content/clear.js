// @ts-check
// The document whose response has cleared what its origin stored (Clear-Site-Data). Below a
// domain the header keeps cookies, because other canvases would lose theirs too.
"use strict";
for (const cookie of document.cookie.split("; ")) {
  const ended = `${cookie.split("=")[0]}=; Max-Age=0; Path=/`;
  document.cookie = ended;
  document.cookie = `${ended}; Secure; SameSite=None; Partitioned`;
}
parent.postMessage({ "x-ahp": "cleared" }, "*"); // it names nobody
