import type { Flags } from '@flags/core';
import { clearImmediate, setImmediate } from '../immediate.js';

export interface Watcher {
  /** Called once for changes that are made together. */
  readonly onChange: () => void;
  readonly onHeartbeat: () => void;
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Called when the flags begin to close. */
  readonly onClosing: () => void;
}

/** Watches the flags until the function that it gives is called. The timer does not keep the process alive. */
export function watch(flags: Flags, { onChange, onHeartbeat, heartbeatInterval, onClosing }: Watcher): () => void {
  let due: NodeJS.Immediate | undefined;
  const stopFollowing = flags.onConfigurationChange(() => {
    due ??= setImmediate(() => {
      due = undefined;
      onChange();
    });
  });
  const timer = setInterval(onHeartbeat, heartbeatInterval).unref();
  flags.closing.addEventListener('abort', onClosing);
  return () => {
    stopFollowing();
    clearImmediate(due);
    clearInterval(timer);
    flags.closing.removeEventListener('abort', onClosing);
  };
}
