// A canvas is a web page that an agent can work with. This file is all there is
// to it: save it, and the open page loads again.
import { onAction, send } from "/.ahp/canvas.js";

const list = document.getElementById("notes");
const text = document.getElementById("text");
const word = document.getElementById("word");

function addNote(note) {
  const item = document.createElement("li");
  item.textContent = note;
  list.append(item);
  return list.children.length;
}

// The agent acts: canvas.json declares the action and its input, and what is
// returned here is the agent's answer.
onAction("add_note", ({ text }) => ({ notes: addNote(text) }));

document.getElementById("add").addEventListener("submit", (event) => {
  event.preventDefault();
  addNote(text.value);
  text.value = "";
});

// The person acts: what is sent is an event that the agent hears.
document.getElementById("done").addEventListener("click", async () => {
  const notes = [...list.children].map((item) => item.textContent);
  try {
    await send({ done: true, notes });
    word.textContent = "The agent can hear it now.";
  } catch (err) {
    word.textContent = `It could not be sent: ${err.message}`;
  }
});
