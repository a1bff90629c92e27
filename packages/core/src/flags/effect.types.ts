/**
 * `absent`: the project has no such flag. `off`: off for everybody, by its switch or a parent. `on`: strategies and
 * parents decide.
 */
export type FlagVisibility = 'absent' | 'off' | 'on';

/** The visibility of a flag before and after. With `off` on both sides, its variants gain or lose their payloads. */
export interface EffectState {
  readonly before: FlagVisibility;
  readonly after: FlagVisibility;
  /** true if the flag is on before and after, but its definition for clients differs. */
  readonly changed?: true;
}

/** The change that clients of one environment would see of one flag. A flag that moves has one effect per project. */
export interface FlagEffect extends EffectState {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}
