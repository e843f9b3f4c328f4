// A text that two documents share over y-websocket.
import * as Y from "yjs";
import { WebsocketProvider } from "y-websocket";

document.querySelector("#root").innerHTML = `<textarea aria-label="Text"></textarea><p></p>`;
const open = () => {
  const doc = new Y.Doc();
  new WebsocketProvider(location.origin.replace("http", "ws"), "room", doc, { disableBc: true });
  return doc.getText("text");
};
const mine = open(), other = open();
document.querySelector("textarea").oninput = (e) => { mine.delete(0, mine.length); mine.insert(0, e.target.value); };
other.observe(() => { document.querySelector("p").textContent = "the other: " + other.toString(); });
