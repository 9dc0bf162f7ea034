import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The address of a running `ralph ui`, for `npm run dev`: RALPH_UI=http://127.0.0.1:PORT.
declare const process: { env: Record<string, string | undefined> };
const server = process.env["RALPH_UI"] ?? "http://127.0.0.1:20000";

export default defineConfig({
  plugins: [react()],
  build: {
    // Nothing inline: the page's Content-Security-Policy allows no inline script or style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    target: "es2023",
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        headers: { origin: server }, // its own: it takes no other's
      },
    },
  },
});
