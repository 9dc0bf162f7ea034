// The build of the page of `ralph report`: one classic script, one style sheet. Modules that
// reach the server or start workers are replaced by those of src/frozen: a page that is
// opened from disk can do neither.
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const file = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));
const replaced = new Map([
  [file("frozen.ts"), file("frozen/frozen.ts")],
  [file("send.ts"), file("frozen/send.ts")],
  [file("live.ts"), file("frozen/live.ts")],
  [file("token.ts"), file("frozen/token.ts")],
  [file("graph/layout.ts"), file("frozen/layout.ts")],
]);

const frozen: Plugin = {
  name: "frozen",
  enforce: "pre",
  async resolveId(source, importer, options) {
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return replaced.get(found?.id ?? "") ?? found;
  },
};

export default defineConfig({
  plugins: [frozen, react()],
  publicDir: false,
  build: {
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2023",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000, // kB
    rolldownOptions: {
      input: file("main.tsx"),
      transform: { define: { "import.meta": "{}" } }, // of the helper that loads parts of the page
      output: { format: "iife", codeSplitting: false, entryFileNames: "report.js", assetFileNames: "report[extname]" },
    },
  },
});
