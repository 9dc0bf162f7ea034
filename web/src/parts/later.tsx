// What is loaded only when it is shown, so that the first view is small.
import { useEffect, useState, type ComponentType } from "react";
import { Failure } from "../client";
import { link } from "../live";
import { Trouble } from "./basics";

export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Later(props: P) {
    const [, setReady] = useState(loaded !== undefined);
    const [failure, setFailure] = useState("");
    useEffect(() => {
      if (loaded) return;
      const ask = () => {
        load().then(
          (c) => {
            loaded = c;
            setReady(true);
          },
          (e: unknown) => setFailure(String(e)),
        );
      };
      ask();
      return link.watch((s) => {
        if (s === "open" && !loaded) ask();
      });
    }, []);
    const Part = loaded;
    if (Part) return <Part {...props} />;
    if (failure) return <Trouble failure={new Failure(0, { error: "This part of the page cannot be loaded.", hint: "Reload the page: ralph ui may be another version now.", reason: "away" })} />;
    return null;
  };
}
