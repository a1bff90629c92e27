/** A set of listeners. A function that is added twice is called twice. */
export interface Listeners<Message> {
  /** @returns a function that removes the listener; repeated calls have no effect */
  add(listener: (message: Message) => void): () => void;
  /** Calls all listeners. Passes the errors of listeners to `onError`, and calls the remaining listeners. */
  notify(message: Message): void;
}

export function createListeners<Message>(onError: (error: unknown) => void): Listeners<Message> {
  const listeners = new Map<symbol, (message: Message) => void>();
  return {
    add(listener) {
      const key = Symbol('listener');
      listeners.set(key, listener);
      return () => void listeners.delete(key);
    },
    notify(message) {
      for (const listener of listeners.values()) {
        try {
          listener(message);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}
