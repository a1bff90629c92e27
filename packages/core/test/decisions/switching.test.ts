import { disable, enable } from '../../src/flags/strategies.decide.js';
import { after, environmentState, flagState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const FLAG = flagState({
  environments: [
    environmentState('on', ['s'], { enabled: true }),
    environmentState('off', ['s']),
    environmentState('bare', []),
  ],
});

describe('switching on', () => {
  it('is one event, for that environment alone', () => {
    const events = enable(FLAG, 'off');
    expect(events).toEqual([
      { type: 'environment-enabled', environment: 'off', data: { enabled: true }, before: { enabled: false } },
    ]);
    expect(after(FLAG, events)?.environments.map(({ enabled }) => enabled)).toEqual([true, true, false]);
  });

  it('an enabled environment causes no event', () => {
    expect(enable(FLAG, 'on')).toEqual([]);
  });

  it.each(['bare', 'never-configured', '__proto__', 'constructor'])(
    'is refused while there is no strategy: %s',
    (environment) => {
      expect(refusalOf(() => enable(FLAG, environment)).code).toBe('environment_has_no_strategies');
    },
  );

  it('is refused for an archived flag, where it is on too', () => {
    for (const environment of ['on', 'off', 'bare']) {
      expect(refusalOf(() => enable({ ...FLAG, archived: true }, environment)).code).toBe('flag_archived');
    }
  });
});

describe('switching off', () => {
  it('is one event, and keeps the strategies', () => {
    const events = disable(FLAG, 'on');
    expect(events).toEqual([
      { type: 'environment-disabled', environment: 'on', data: { enabled: false }, before: { enabled: true } },
    ]);
    expect(after(FLAG, events)?.environments[0]).toEqual(environmentState('on', ['s']));
  });

  it.each(['off', 'bare', 'never-configured'])('a disabled environment causes no event: %s', (environment) => {
    expect(disable(FLAG, environment)).toEqual([]);
  });

  it('is refused for an archived flag, where it is off too', () => {
    for (const environment of ['on', 'off', 'bare']) {
      expect(refusalOf(() => disable({ ...FLAG, archived: true }, environment)).code).toBe('flag_archived');
    }
  });
});
