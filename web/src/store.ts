import { useSyncExternalStore } from "react";

// Store is one value that components and others watch.
export class Store<T> {
  private readonly watchers = new Set<(value: T) => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  readonly set = (value: T): void => {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const tell of this.watchers) tell(value);
  };

  // watch calls tell at each change, until what it returns is called.
  readonly watch = (tell: (value: T) => void): (() => void) => {
    this.watchers.add(tell);
    return () => this.watchers.delete(tell);
  };
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.watch, store.get);
}
