/** The exit codes of all commands. */
export const EXIT = {
  done: 0,
  /** The request was refused, or it failed. Nothing has changed unless the message says so. */
  failed: 1,
  /** `plan` found changes. */
  changes: 2,
  /** Nobody confirmed the change. */
  unconfirmed: 3,
  /** The command line is wrong. */
  usage: 64,
} as const;

/** Ends the command with a message for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** The command line is wrong. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
