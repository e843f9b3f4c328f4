// @ts-check
// Shows a message if the page's modules do not run because the browser is too old or lacks a
// feature. So this is a classic script in old syntax, which runs before them.
"use strict";
(function () {
  /** @type {string | undefined} */ var why;
  addEventListener("error", function (event) { why = why || event.message; });
  addEventListener("load", function () { // after the modules
    var empty = document.getElementById("empty");
    if (!empty || !empty.hidden || document.body.getAttribute("data-connection")) return; // the page runs
    empty.hidden = false;
    empty.children[0].textContent = "This page does not run in this browser.";
    empty.children[1].textContent = "Open the link in a current Chrome, Edge, Firefox or Safari." + (why ? " The browser reports: " + why : "");
    /** @type {HTMLElement} */ (empty.children[2]).hidden = true;
    var pill = /** @type {HTMLElement} */ (document.getElementById("connection"));
    pill.setAttribute("data-state", "refused");
    pill.textContent = "Not running";
  });
})();
