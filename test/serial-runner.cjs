// Runs the test files of a project one after another, while no other file runs. For tests that start many processes of
// their own: beside others, they and those others miss their time limits on a small machine.
const { default: Runner } = require('jest-runner');

module.exports = class SerialRunner extends Runner {
  isSerial = true;
};
