import { OFREPWebProvider, type OFREPWebProviderOptions } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

/*
 * The script of a page. Tests bundle it for the browser, and call its functions there.
 */

const client = OpenFeature.getClient();

Object.assign(globalThis, {
  isOn: () => client.getBooleanValue('checkout', false),
  start: (options: OFREPWebProviderOptions) => OpenFeature.setProviderAndWait(new OFREPWebProvider(options)),
});
