// A canvas is a web page that an agent can use. This file is the whole program: when
// you save it, the open page reloads.
import { onAction, send } from "/.ahp/canvas.js";

const list = document.getElementById("notes");
const text = document.getElementById("text");
const message = document.getElementById("message");

function addNote(note) {
  const item = document.createElement("li");
  item.textContent = note;
  list.append(item);
  return list.children.length;
}

// The agent acts: canvas.json declares the action and its input, and the value that is
// returned here is the answer to the agent.
onAction("add_note", ({ text }) => ({ notes: addNote(text) }));

document.getElementById("add").addEventListener("submit", (event) => {
  event.preventDefault();
  addNote(text.value);
  text.value = "";
});

// The person acts: the agent receives what is sent as an event.
document.getElementById("done").addEventListener("click", async () => {
  const notes = [...list.children].map((item) => item.textContent);
  try {
    await send({ done: true, notes });
    message.textContent = "The agent can read your notes now.";
  } catch (err) {
    message.textContent = `Your notes could not be sent: ${err.message}`;
  }
});
