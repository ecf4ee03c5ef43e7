// Buttons that copy the lines beside them. Without JavaScript, or where a page may not write to the clipboard, there are none.
"use strict";

const SHOWN_MS = 2000;
const said = document.createElement("p");
said.className = "hidden";
said.setAttribute("role", "status");

async function copy(button, text) {
  const label = button.firstChild;
  try {
    await navigator.clipboard.writeText(text);
    label.data = "Copied";
    said.textContent = "Copied to the clipboard.";
  } catch {
    label.data = "Not allowed";
    said.textContent = "The browser does not let this page write to the clipboard.";
  }
  setTimeout(() => {
    label.data = "Copy";
    said.textContent = "";
  }, SHOWN_MS);
}

if (navigator.clipboard) {
  document.body.append(said);
  for (const button of document.querySelectorAll("button.copy")) {
    const lines = button.parentElement.querySelector("pre");
    button.addEventListener("click", () => copy(button, lines.textContent));
    button.hidden = false;
  }
}
