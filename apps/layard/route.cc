#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "commands.h"
#include "gateway/request_class.h"
#include "gateway/route_eval.h"
#include "gateway/route_explain.h"
#include "input.h"
#include "progress.h"
#include "route_check.h"
#include "route_measure.h"
#include "table.h"

namespace layard::cli {
namespace {

using gateway::RequestClass;
using gateway::RequestClassifier;
using gateway::RoutePolicy;

struct Options {
  std::string model;
  std::string policy;
  std::string calibration;
  std::string state;
  std::vector<std::string> devices;
  std::optional<int> orders;
};

struct EvalOptions {
  std::string cases;
  std::string format = "table";
  double min_accuracy = 0;
  bool no_gate = false;
};

struct LoadedPolicy {
  RoutePolicy policy;
  std::string sha256;  // of the file; empty: built-in
};

Result<LoadedPolicy> read_policy(const Options& options) {
  LoadedPolicy out{RoutePolicy::built_in(), ""};
  if (!options.policy.empty()) {
    LAYARD_ASSIGN(const std::string text, read_file(options.policy, gateway::kPolicyBytesMax));
    LAYARD_ASSIGN(out.policy, RoutePolicy::parse(text, options.policy));
    out.sha256 = gateway::policy_hash(text);
  }
  out.policy.orders = options.orders.value_or(out.policy.orders);
  return out;
}

std::string model_name(const Options& options, const RoutePolicy& policy) {
  if (!options.model.empty()) return options.model;
  return policy.checkpoint.empty() ? "starter" : policy.checkpoint;
}

Result<std::unique_ptr<Model>> open_model(const Globals& globals, const Options& options,
                                          const RoutePolicy& policy) {
  LAYARD_ASSIGN(ModelOptions resolved,
                model_options(globals, model_name(options, policy), "auto", "float32"));
  resolved.calibration_file = options.calibration;
  return Model::open(resolved);
}

// One decision: what was asked about, and what came of it.
struct Decision {
  RoutePolicy policy;
  std::string policy_sha256;
  std::string text;
  RequestClass found;
  std::vector<std::string> candidates;
};

Result<Decision> decide(const Globals& globals, const Options& options) {
  if (options.state.empty()) {
    return Error{ErrorCode::kInvalidRequest,
                 "--state is needed: the request's text, @FILE or - (or a subcommand: check, "
                 "explain, eval, measure, derive)"};
  }
  Decision out;
  LAYARD_ASSIGN(LoadedPolicy loaded, read_policy(options));
  out.policy = std::move(loaded.policy);
  out.policy_sha256 = std::move(loaded.sha256);
  LAYARD_ASSIGN(out.text, read_value("--state", options.state));
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, open_model(globals, options, out.policy));
  LAYARD_ASSIGN(const RequestClassifier classifier, RequestClassifier::open(out.policy, *model));
  LAYARD_ASSIGN(out.found, classifier.classify(out.text));
  out.candidates = options.devices.empty() ? out.policy.devices() : options.devices;
  return out;
}

int run_route(const Globals& globals, const Options& options) {
  const auto decision = decide(globals, options);
  if (!decision.ok()) return report(decision.error());
  const std::string device = gateway::pick_device(decision->policy, decision->found.name,
                                                  decision->found.confidence, decision->candidates);
  std::cout << printable(gateway::route_line(decision->found, device)) << "\n";
  return kExitOk;
}

int run_explain(const Globals& globals, const Options& options, const std::string& format) {
  const auto decision = decide(globals, options);
  if (!decision.ok()) return report(decision.error());
  const gateway::ExplainSource source{options.policy.empty() ? "built-in" : options.policy,
                                      decision->policy_sha256,
                                      model_name(options, decision->policy), seconds_since_1970()};
  const auto explained = gateway::explain_route(decision->policy, decision->text, decision->found,
                                                decision->candidates, source);
  if (format == "json") {
    std::cout << gateway::explanation_json(explained) << "\n";
  } else {
    print_lines(gateway::print_explanation(explained));
  }
  return kExitOk;
}

Result<gateway::RouteEvaluation> evaluate(const Globals& globals, const Options& options,
                                          const EvalOptions& eval) {
  LAYARD_ASSIGN(LoadedPolicy loaded, read_policy(options));
  RoutePolicy& policy = loaded.policy;
  if (eval.no_gate) policy.remove_gate();
  LAYARD_ASSIGN(const std::string text, read_file(eval.cases, gateway::kCasesBytesMax));
  auto cases = gateway::parse_route_cases(text, policy.classes());
  if (!cases.ok()) {
    return Error{cases.error().code, "'" + eval.cases + "': " + cases.error().message};
  }
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, open_model(globals, options, policy));
  LAYARD_ASSIGN(const RequestClassifier classifier, RequestClassifier::open(policy, *model));
  Progress progress("route eval");
  return gateway::evaluate_routes(
      policy, classifier, *cases,
      [&](std::size_t done, std::size_t total) { progress.update(done, total); });
}

int run_eval(const Globals& globals, const Options& options, const EvalOptions& eval) {
  if (!(eval.min_accuracy >= 0 && eval.min_accuracy <= 100)) {
    return report({ErrorCode::kInvalidRequest, "--min-accuracy must be from 0 to 100"});
  }
  const auto found = evaluate(globals, options, eval);
  if (!found.ok()) return report(found.error());
  std::cout << (eval.format == "json" ? gateway::route_evaluation_json(*found) + "\n"
                                      : gateway::print_route_evaluation(*found));
  if (found->all.percent() >= eval.min_accuracy) return kExitOk;
  std::cerr << "check failed: accuracy is under --min-accuracy\n";
  return kExitCheckFailed;
}

void add_policy(CLI::App& command, Options& options) {
  command.add_option("--policy", options.policy, "Policy file (default: the built-in one)")
      ->type_name(kFileType);
  command
      .add_option("--model", options.model,
                  "Who is asked (default: the policy's checkpoint, else starter)")
      ->type_name(kModelType);
  command
      .add_option("--orders", options.orders,
                  "Offer the classes in so many orders and answer from the mean (default: the "
                  "policy's question.orders, else 1)")
      ->check(CLI::Range(1, kOrdersMax));
  add_calibration_option(command, options.calibration);
}

void add_eval(CLI::App& route, const Globals& globals, Run& run) {
  CLI::App* command = route.add_subcommand(
      "eval", "How well the question tells labelled requests apart; exit 1 under --min-accuracy");
  auto options = std::make_shared<Options>();
  auto eval = std::make_shared<EvalOptions>();
  add_policy(*command, *options);
  command
      ->add_option("--cases", eval->cases,
                   "{\"cases\": [{\"class\", \"text\"}]}, or JSON Lines of such cases")
      ->type_name(kFileType)
      ->required();
  command->add_option("--min-accuracy", eval->min_accuracy, "Percent")
      ->type_name("FLOAT")
      ->capture_default_str();
  command->add_flag("--no-gate", eval->no_gate, "Ask the model about texts of every size");
  command->add_option("--format", eval->format, "A table for people, or JSON")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([&globals, &run, options, eval] {
    run = [&globals, options, eval] { return run_eval(globals, *options, *eval); };
  });
}

void add_decision(CLI::App& command, Options& options) {
  add_policy(command, options);
  command.add_option("--state", options.state, "The request's text, @FILE or -")
      ->type_name(kValueType);
  command
      .add_option("--devices", options.devices,
                  "Devices that are there (default: all that the policy names)")
      ->delimiter(',');
}

void add_explain(CLI::App& route, const Globals& globals, Run& run) {
  CLI::App* command = route.add_subcommand(
      "explain", "Every step of the decision: gate, question, answer, threshold, row, devices");
  auto options = std::make_shared<Options>();
  auto format = std::make_shared<std::string>("text");
  add_decision(*command, *options);
  command->add_option("--format", *format, "Lines for people, or JSON")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([&globals, &run, options, format] {
    run = [&globals, options, format] { return run_explain(globals, *options, *format); };
  });
}

}  // namespace

void add_route(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "route", "What kind of request is this, and which device serves it: `code 0.44 vulkan`");
  command->footer(
      "Examples:\n"
      "  layard route --state 'Write a Rust function that sums a slice.'\n"
      "  layard route --policy route-policy.json --state @request.txt\n"
      "  layard route check route-policy.yaml\n"
      "  layard route explain --state 'What is 2 + 2?'\n"
      "  layard route eval --cases cases.jsonl --min-accuracy 90");
  command->require_subcommand(0, 1);
  auto options = std::make_shared<Options>();
  add_decision(*command, *options);
  command->add_flag_callback(
      "--classify", [] {}, "Accepted for scripts of the 1bit router: it is what is done");
  command->callback([&globals, &run, options, command] {
    if (!command->get_subcommands().empty()) return;  // its own work stands in `run`
    run = [&globals, options] { return run_route(globals, *options); };
  });
  add_route_check(*command, run);
  add_explain(*command, globals, run);
  add_eval(*command, globals, run);
  add_route_measure(*command, run);
  add_route_derive(*command, run);
}

}  // namespace layard::cli
