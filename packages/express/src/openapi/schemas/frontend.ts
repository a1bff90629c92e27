import { boolean, listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

export const frontendSchemas = {
  FrontendToggles: strictObject({
    toggles: { ...listOf(referTo('FrontendToggle')), description: 'The flags that are on.' },
  }),

  FrontendToggle: strictObject({
    name: text,
    enabled: { type: 'boolean', const: true },
    variant: referTo('EvaluatedVariant'),
    impressionData: boolean,
  }),

  EvaluatedVariant: strictObject(
    {
      name: { type: 'string', description: 'disabled when there is none.' },
      enabled: { ...boolean, description: 'Whether there is a variant.' },
      feature_enabled: { ...boolean, description: 'Whether the flag is on.' },
      featureEnabled: { ...boolean, description: 'The same as feature_enabled.' },
    },
    { payload: referTo('Payload') },
  ),
};
