"use client";
import { useState } from "react";

export function Count() {
  const [n, set] = useState(0);
  return (
    <button id="count" onClick={() => set(n + 1)}>
      pressed {n}
    </button>
  );
}
