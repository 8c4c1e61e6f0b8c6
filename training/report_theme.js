// Light or dark: as the system says, until the button is pressed. In the head, so that the first paint has it.
"use strict";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

// A page opened from a file may have no storage.
function storedTheme() {
  try { return localStorage.getItem("tandem-theme"); } catch { return null; }
}

function storeTheme(theme) {
  try { localStorage.setItem("tandem-theme", theme); } catch { /* it lasts as long as the page */ }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  if (button) button.textContent = theme === "dark" ? "Light" : "Dark";
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  storeTheme(theme);
  applyTheme(theme);
}

const chosenTheme = () => storedTheme() ?? (systemIsDark.matches ? "dark" : "light");
applyTheme(chosenTheme());
systemIsDark.addEventListener("change", () => applyTheme(chosenTheme()));
document.addEventListener("DOMContentLoaded", () => {
  applyTheme(document.documentElement.dataset.theme);
  document.getElementById("theme").addEventListener("click", toggleTheme);
});
