import { register } from "node:module";
if (process.env.VERSIONS) register("./versions.mjs", import.meta.url);
