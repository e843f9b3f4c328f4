// The official core of A2UI's renderers, fed by a test: each line of standard input is a
// list of messages, each line of standard output what the core has afterward: the data
// model of each surface, and the types of its components.
import { createInterface } from "node:readline";
import { MessageProcessor } from "@a2ui/web_core/v0_9";
import { basicCatalog } from "@a2ui/web_core/v0_9/basic_catalog";

/** The milliseconds of processor time of a round over lists of messages, given as JSON, each on a new processor. */
function bench(lists, rounds) {
  const began = process.cpuUsage();
  for (let n = 0; n < rounds; n++) for (const text of lists) new MessageProcessor([basicCatalog]).processMessages(JSON.parse(text));
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / rounds;
}

let processor = new MessageProcessor([basicCatalog]);
for await (const line of createInterface({ input: process.stdin })) {
  const list = JSON.parse(line);
  if (list?.bench) {
    console.log(JSON.stringify({ ms: bench(list.bench, list.rounds) }));
    continue;
  }
  if (list === null) processor = new MessageProcessor([basicCatalog]);
  let error;
  const began = performance.now();
  try {
    processor.processMessages(list ?? []);
  } catch (err) {
    error = String(err);
  }
  const ms = performance.now() - began;
  const surfaces = {};
  for (const [id, s] of processor.model.surfacesMap) {
    const components = {};
    for (const [name, c] of s.componentsModel.entries) components[name] = { component: c.type, ...c.properties };
    surfaces[id] = { model: s.dataModel.get("/") ?? null, components, sync: s.sendDataModel };
  }
  console.log(JSON.stringify({ surfaces, error, ms }));
}
