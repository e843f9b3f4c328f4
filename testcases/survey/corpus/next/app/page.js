import { Count } from "./count.js";

export default function Page() {
  return (
    <main>
      <h1>Next</h1>
      <Count />
    </main>
  );
}
