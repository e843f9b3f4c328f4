// The imports of addresses in @tldraw/assets are lost when Vite bundles it beforehand.
export default { optimizeDeps: { exclude: ["@tldraw/assets"] } };
