// @ts-check
// What is said where the page itself does not run: a browser that is too old for
// it, or lacks something that it stands on. No module, and nothing new in it.
"use strict";
(function () {
  /** @type {string | undefined} */ var why;
  addEventListener("error", function (event) { why = why || event.message; });
  addEventListener("load", function () { // after the modules
    var empty = document.getElementById("empty");
    if (!empty || !empty.hidden || document.body.getAttribute("data-connection")) return; // it runs
    empty.hidden = false;
    empty.children[0].textContent = "This page does not run in this browser.";
    empty.children[1].textContent = "Open the link in a current Chrome, Edge, Firefox or Safari." + (why ? " The browser says: " + why : "");
    /** @type {HTMLElement} */ (empty.children[2]).hidden = true;
    var pill = /** @type {HTMLElement} */ (document.getElementById("connection"));
    pill.setAttribute("data-state", "refused");
    pill.textContent = "Not running";
  });
})();
