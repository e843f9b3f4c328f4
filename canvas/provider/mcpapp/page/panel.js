// @ts-check
// The server panel: what an MCP server does. It asks every 2 s while it is visible.

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

async function draw() {
  if (document.hidden) return;
  const answer = await fetch("/-/state").catch(() => undefined);
  if (!answer?.ok) return;
  const s = await answer.json();
  byId("name").textContent = s.name;
  byId("state").textContent = s.up ? `It runs and has ${s.tools} tools.` : "It does not run.";
  byId("log").textContent = s.log;
  byId("calls").replaceChildren(...s.calls.toReversed().map((/** @type {Record<string, string>} */ c) => {
    const row = document.createElement("tr");
    for (const text of [new Date(c.time).toLocaleTimeString(), c.who, c.tool, c.outcome, c.took]) row.insertCell().textContent = text;
    return row;
  }));
}

draw();
setInterval(draw, 2_000);
