// A component for `s`, given as a local path: it does what fc3 does for these tests, with the project's own scripts.
// fc3 itself is in no package registry (serverless-devs page, section 4.1).
const { spawnSync } = require("node:child_process");

const LOOK = `
import json, sys
from scripts.cloud import CloudSettings, Functions
functions = Functions(CloudSettings())
job, name, event = sys.argv[1:4]
if job == "info":
    found = functions.find(name)
    print(json.dumps({"functionName": name, "there": found is not None, "handler": found and found.document["handler"]}))
elif job == "invoke":
    answer = functions.invoke(name, event.encode())
    print(json.dumps({"body": answer.body.decode(), "errorType": answer.error_type}))
elif job == "remove":
    for trigger in functions.triggers(name):
        functions.delete_trigger(name, trigger.name)
    for alias in functions.aliases(name):
        functions.delete_alias(name, alias.name)
    for version in functions.versions(name):
        functions.delete_version(name, version.number)
    functions.delete_async_config(name)
    functions.delete(name)
    print(json.dumps({"removed": name}))
`;

function python(...parameters) {
  const done = spawnSync(process.env.TEST_PYTHON, parameters, { encoding: "utf8", cwd: process.env.TEST_ROOT });
  if (done.status !== 0) throw new Error(done.stderr || done.stdout);
  return JSON.parse(done.stdout);
}

module.exports = class Component {
  constructor({ logger }) {
    this.logger = logger;
  }
  async deploy(inputs) {
    const credential = await inputs.getCredential();
    this.logger.info(`${inputs.props.functionName} for account ${credential.AccountID}`);
    const done = python("-m", "scripts.deploy_functions", "--only", inputs.props.functionName, "--json");
    return { functionName: inputs.props.functionName, changes: done.changes.length };
  }
  async info(inputs) {
    return python("-c", LOOK, "info", inputs.props.functionName, "");
  }
  async invoke(inputs) {
    const event = inputs.args[inputs.args.indexOf("-e") + 1];
    return python("-c", LOOK, "invoke", inputs.props.functionName, event);
  }
  async remove(inputs) {
    return python("-c", LOOK, "remove", inputs.props.functionName, "");
  }
};
