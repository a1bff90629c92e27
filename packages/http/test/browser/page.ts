import { OFREPWebProvider, type OFREPWebProviderOptions } from '@openfeature/ofrep-web-provider';
import { OpenFeature, type Provider } from '@openfeature/web-sdk';

/*
 * The script of a page. Tests bundle it for the browser, and call its functions there.
 */

const client = OpenFeature.getClient();

Object.assign(globalThis, {
  isOn: () => client.getBooleanValue('checkout', false),
  // Its types are written for compilers that do not tell an absent member from an undefined one.
  start: (options: OFREPWebProviderOptions) =>
    OpenFeature.setProviderAndWait(new OFREPWebProvider(options) as Provider),
});
