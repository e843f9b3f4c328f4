import { joinSession } from "no-such-package";
await joinSession({ canvases: [] });
