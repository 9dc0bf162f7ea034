import { defineConfig } from "@playwright/test";
import { chromium } from "./chromium.ts";

export default defineConfig({
  testDir: ".",
  outputDir: "results",
  reporter: [["list"]],
  forbidOnly: true,
  retries: 0,
  workers: 2,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    actionTimeout: 20_000,
    navigationTimeout: 20_000,
    screenshot: "off", // tests take those that are kept
    trace: { mode: "retain-on-failure", screenshots: false, sources: false },
    launchOptions: { executablePath: chromium() },
  },
});
