/**
 * Whom and what a flag is evaluated for. Constraints and stickiness name its members, or else own members of
 * `properties`; a value counts as its string. Whatever it holds, evaluation does not throw.
 */
export interface EvaluationContext {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly environment?: string | undefined;
  readonly appName?: string | undefined;
  /** What `DATE_*` compare; the snapshot's `now` when absent. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}
