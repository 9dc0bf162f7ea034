import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { announce } from "./announce";
import { App } from "./app";
import { begin } from "./begin";
import { listenToKeys } from "./keys";
import { goLive, onEntries } from "./live";
import { keepFresh } from "./resource";
import "./style.css";
import { takeToken, watchToken } from "./token";

takeToken();
begin();
watchToken();
listenToKeys();
keepFresh();
goLive();
const telling = /^(node\.(waiting|blocked|done)|run\.(started|ended|held)|decided|tamper\.seen)$/;
onEntries((entries) => {
  for (const e of entries) if (telling.test(e.kind)) announce(`${e.key ?? "the run"}: ${e.text}`);
});

const page = document.getElementById("page");
if (page) {
  createRoot(page).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
