// @ts-check
// Sets the chosen theme before the first paint. index.html is served with this script inline.
"use strict";
try {
  var theme = localStorage.getItem("theme"); // of theme.js
  if (theme === "light" || theme === "dark") document.documentElement.setAttribute("data-color-mode", theme);
} catch (e) {} // storage is not allowed
