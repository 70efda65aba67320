import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  // Relative, so that the same files work under any path.
  base: "./",
  build: {
    outDir: "../src/wenyuan/doors/web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    // A data: URL would need a wider policy than 'self'.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8700" } },
});
