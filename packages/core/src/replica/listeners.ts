/** Functions to call, each told apart by when it was added. */
export interface Listeners<Message> {
  /** @returns a function that removes the listener; it may be called again */
  add(listener: (message: Message) => void): () => void;
  /** Calls all. What a listener throws is told, and does not keep the others from being called. */
  notify(message: Message): void;
}

export function createListeners<Message>(onError: (error: unknown) => void): Listeners<Message> {
  const listeners = new Map<symbol, (message: Message) => void>();
  return {
    add(listener) {
      const place = Symbol('listener');
      listeners.set(place, listener);
      return () => void listeners.delete(place);
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
