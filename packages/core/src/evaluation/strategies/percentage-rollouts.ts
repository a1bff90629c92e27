import type { Parameters } from '../../api/strategies.js';
import { type FieldReader, fieldReader, sessionId, userId, userOrSession } from '../context-field.js';
import { numberOf, text, textOrNone } from '../shape.js';
import { rolloutTest } from './rollout.js';
import type { StrategyTestFactory } from './strategy-test.js';

const nobody: FieldReader = () => undefined;

export const flexibleRollout: StrategyTestFactory = (parameters, surroundings) => {
  const stickiness = textOrNone(parameters.stickiness, 'stickiness') || 'default';
  const withoutId = stickiness === 'default' || stickiness === 'random' ? 'random' : 'off';
  const percentage = numberOf(parameters.rollout);
  return rolloutTest({ groupId: groupOf(parameters), percentage, id: stickyId(stickiness), withoutId }, surroundings);
};

export const gradualRolloutUserId: StrategyTestFactory = gradualRollout(userId);
export const gradualRolloutSessionId: StrategyTestFactory = gradualRollout(sessionId);

export const gradualRolloutRandom: StrategyTestFactory = (parameters, surroundings) => {
  const percentage = numberOf(parameters.percentage);
  return rolloutTest({ groupId: '', percentage, id: nobody, withoutId: 'random' }, surroundings);
};

function gradualRollout(id: FieldReader): StrategyTestFactory {
  return (parameters, surroundings) => {
    const percentage = numberOf(parameters.percentage);
    return rolloutTest({ groupId: groupOf(parameters), percentage, id, withoutId: 'off' }, surroundings);
  };
}

function stickyId(stickiness: string): FieldReader {
  if (stickiness === 'default') return userOrSession;
  return stickiness === 'random' ? nobody : fieldReader(stickiness);
}

function groupOf(parameters: Parameters): string {
  return text(parameters.groupId || '', 'groupId');
}
