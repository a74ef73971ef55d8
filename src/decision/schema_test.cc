#include "decision/schema.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decision/codec.h"

namespace layard {
namespace {

using Texts = std::vector<std::string>;

Result<Question> read(const std::string& definition, bool missing_instructions = false) {
  auto set = parse_questions("{\"q\":" + definition + "}", {missing_instructions, {}});
  if (!set.ok()) return set.error();
  return set->questions.at(0);
}

void check_options(const std::string& definition, const Texts& expected) {
  const auto question = read(definition);
  ASSERT_TRUE(question.ok()) << definition << ": " << question.error().message;
  EXPECT_EQ(question->options, expected) << definition;
}

// The whole message behind `question 'q': `.
void check_refused(const std::string& definition, const std::string& expected) {
  const auto question = read(definition);
  ASSERT_FALSE(question.ok()) << definition;
  EXPECT_EQ(question.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(question.error().message, "question 'q': " + expected) << definition;
}

std::string choice(const std::string& criteria) {
  return R"({"type":"choice","instructions":"x","criteria":)" + criteria + "}";
}
std::string score(const std::string& criteria) {
  return R"({"type":"score","instructions":"x","criteria":)" + criteria + "}";
}
std::string noul(const std::string& more) {
  return R"({"type":"noul","instructions":"x")" + more + "}";
}

TEST(DecisionSchema, ChoiceDict) {
  check_options(choice(R"({"billing":{"desc":"payments"},"tech":null,"sales":""})"),
                {R"(billing: {"desc": "payments"})", "tech", "sales"});
  check_options(choice(R"({"zero":0,"no":false,"e":1e-7,"l":[]})"),
                {"zero: 0", "no: false", "e: 1e-07", "l: []"});
  check_options(choice(R"({"":"an empty label"})"), {": an empty label"});
  check_refused(choice("{}"), "a choice question needs at least one criterion");
  const auto question = read(choice(R"({"b":1,"a":2,"b":3})"));
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->options, (Texts{"b: 3", "a: 2"}));  // last value at the first place
}

TEST(DecisionSchema, ChoiceList) {
  check_options(choice(R"(["only"])"), {"only"});
  check_options(choice(R"(["a","","1"])"), {"a", "", "1"});
  check_options(choice(R"([7,2.5,true,"x"])"), {"7", "2.5", "True", "x"});
  check_refused(choice("[]"), "a choice question needs at least one criterion");
  const auto question = read(choice("[7,2.50,false,1e5]"));
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->labels, (std::vector<Label>{{"7", "7", "7"},
                                                  {"2.5", "2.5", "2.5"},
                                                  {"False", "false", "false"},
                                                  {"100000.0", "100000.0", "100000.0"}}));
}

TEST(DecisionSchema, ChoiceShape) {
  const std::string text =
      "a choice question takes 'criteria' as a dict of label -> description, or a list of labels";
  check_refused(R"({"type":"choice","instructions":"x"})", text);
  check_refused(choice("\"ab\""), text);
  check_refused(choice("null"), text);
  check_refused(choice("3"), text);
}

TEST(DecisionSchema, ChoiceRepeats) {
  const auto repeat = [](const std::string& criteria, const std::string& i, const std::string& repr,
                         const std::string& j) {
    check_refused(choice(criteria),
                  "choice label " + i + " (" + repr + ") repeats label " + j +
                      "; the labels are the answer keys, so every option needs its own (1, 1.0 and "
                      "True are one key)");
  };
  repeat(R"(["a","a"])", "1", "'a'", "0");
  repeat("[0,1,2,1.0]", "3", "1.0", "1");
  repeat("[true,1]", "1", "1", "0");
  repeat("[false,-0.0]", "1", "-0.0", "0");
  repeat("[0,-0]", "1", "0", "0");
  repeat("[100000,1E5]", "1", "100000.0", "0");
  repeat("[99999999999999991611392,1e23]", "1", "1e+23", "0");
  check_options(choice("[100000000000000000000000,1e23]"), {"100000000000000000000000", "1e+23"});
  check_options(choice("[0.1,0.10000000000000002]"), {"0.1", "0.10000000000000002"});
}

TEST(DecisionSchema, ChoiceLabelKinds) {
  const std::string why =
      "; a label is rendered as option text and used as the answer key, so it must be a scalar (a "
      "string, number or bool), got ";
  check_refused(choice(R"(["a",["b"]])"), "choice label 1 is a list" + why + "['b']");
  check_refused(choice(R"([{"a":1}])"), "choice label 0 is a dict" + why + "{'a': 1}");
  check_refused(choice(R"(["a",null])"),
                "choice label 1 is null; a label is rendered as option text and used as the answer "
                "key, so it must be a string, number or bool -- a null label renders as the text "
                "\"None\" while its answer key is \"null\"");
  // A later label of the wrong kind is named before an earlier repeat, as upstream does.
  check_refused(choice(R"(["a","a",[]])"), "choice label 2 is a list" + why + "[]");
}

// Ours: upstream would print one JSON key twice, or a number that is no JSON.
TEST(DecisionSchema, ChoiceLabelsThatCannotBeAnswered) {
  check_refused(choice(R"([1,"1"])"),
                "choice labels 0 and 1 would both be answered under the JSON key \"1\"; reword one "
                "of them");
  check_refused(choice("[1e999]"),
                "choice label 0 is a number out of range (1e999); an answer could not repeat it as "
                "JSON, so write it as a string");
}

TEST(DecisionSchema, EntriesAreBounded) {
  const auto list = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) text += "," + std::to_string(i);
    return text + "]";
  };
  EXPECT_TRUE(read(choice(list(decision::kEntriesMax))).ok());
  check_refused(choice(list(decision::kEntriesMax + 1)),
                "65537 labels are over the limit of 65536; use fewer");
  check_refused(score(list(decision::kEntriesMax + 1)),
                "65537 levels are over the limit of 65536; use fewer");
}

TEST(DecisionSchema, ScoreList) {
  check_options(score(R"([{"d":"low"},"high",2])"),
                {R"(level 0: {"d": "low"})", "level 1: high", "level 2: 2"});
  check_options(score(R"([""])"), {"level 0: "});
  const std::string shape =
      "a score question takes 'criteria' as a list of level descriptions, index 0 first";
  check_refused(score(R"({"a":"b"})"), shape);
  check_refused(R"({"type":"score","instructions":"x"})", shape);
  check_refused(score("[]"), "a score question needs at least one level");
  check_refused(score(R"(["a",null,null])"),
                "score level 1 is null; give every level a description, index 0 first");
  const auto question = read(score(R"([["a"],1.0])"));
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->levels, (Texts{R"(["a"])", "1.0"}));
}

TEST(DecisionSchema, NoulCriteriaOptional) {
  const Texts plain = {"false: no, the statement does not hold", "true: yes, the statement holds"};
  check_options(noul(""), plain);
  check_options(noul(R"(,"criteria":null)"), plain);
  check_options(noul(R"(,"criteria":{})"), plain);
  check_options(noul(R"(,"criteria":{"true":"","false":null})"), plain);
  check_options(noul(R"(,"criteria":{"true":"it is"})"), {plain[0], "true: it is"});
  check_options(noul(R"(,"criteria":{"true":"it is","false":"it is not"})"),
                {"false: it is not", "true: it is"});
  check_options(noul(R"(,"criteria":{"true":0,"false":false})"), {"false: false", "true: 0"});
  check_refused(noul(R"(,"criteria":["a","b"])"),
                "a noul question takes 'criteria' as a dict with optional 'true'/'false' "
                "descriptions, or omits it");
}

TEST(DecisionSchema, NoulKeysIgnoreCase) {
  const auto lower = read(noul(R"(,"criteria":{"true":"yes it is","false":"no"})"));
  const auto mixed = read(noul(R"(,"criteria":{"True":"yes it is","FALSE":"no"})"));
  ASSERT_TRUE(lower.ok() && mixed.ok());
  EXPECT_EQ(*lower, *mixed);
  check_options(noul(R"(,"criteria":{"true":"a","TRUE":"b"})"),
                {"false: no, the statement does not hold", "true: b"});
  check_options(noul(R"(,"criteria":{"TRUE":"b","true":null})"),
                {"false: no, the statement does not hold", "true: yes, the statement holds"});
}

TEST(DecisionSchema, NoulOtherKeys) {
  const auto check = [](const std::string& criteria, const std::string& listed) {
    check_refused(noul(",\"criteria\":" + criteria),
                  "a noul question takes 'criteria' keyed only 'true'/'false' (either or both, and "
                  "omitted is fine), got " +
                      listed +
                      ". Those keys are the option texts the model reads; any other key was "
                      "silently dropped and replaced with the defaults. If you want the answer "
                      "worded differently, keep 'criteria' keyed 'true'/'false' and set 'labels' "
                      "instead.");
  };
  check(R"({"yes":"a","no":"b"})", "['no', 'yes']");
  check(R"({"True":"a","Zut":"b","ДА":1,"it's":2})", "[\"it's\", 'true', 'zut', 'да']");
  check(R"({"":1})", "['']");
}

TEST(DecisionSchema, Labels) {
  check_options(noul(R"(,"criteria":{"true":" A ","false":" B "})"), {"false:  B ", "true:  A "});
  check_options(noul(R"(,"labels":{"true":" A ","false":" B "})"),
                {"B: no, the statement does not hold", "A: yes, the statement holds"});
  check_options(noul(R"(,"labels":{"true":"Ja","false":"Nein"},"criteria":{"false":"weil"})"),
                {"Nein: weil", "Ja: yes, the statement holds"});
  check_options(noul(R"(,"labels":null)"),
                {"false: no, the statement does not hold", "true: yes, the statement holds"});
}

TEST(DecisionSchema, LabelsRejected) {
  const std::string text =
      "noul labels must map exactly 'false' and 'true' to distinct non-empty strings";
  for (const char* labels :
       {R"({"true":" A","false":"A "})", R"({"true":" ","false":"A"})", R"({"true":1,"false":"A"})",
        R"({"true":"A"})", R"({"true":"A","false":"B","x":"C"})", R"({"True":"A","False":"B"})",
        R"(["A","B"])", R"("AB")", "{}", "false"}) {
    check_refused(noul(std::string(",\"labels\":") + labels), text);
  }
  const std::string only = "'labels' is only supported for noul questions";
  check_refused(
      R"({"type":"choice","instructions":"x","criteria":["a"],"labels":{"false":"a","true":"b"}})",
      only);
  check_refused(R"({"type":"score","instructions":"x","criteria":["a"],"labels":null})", only);
}

TEST(DecisionSchema, OptionOrder) {
  const auto question = read(
      R"({"type":"choice","instructions":"x","criteria":["a","b","c"],"option_order":[2,0,1]})");
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->option_order, (std::vector<std::uint32_t>{2, 0, 1}));
  EXPECT_EQ(question->options, (Texts{"a", "b", "c"}));
  for (const char* order : {"[0]", "[0,0]", "[0,2]", "[1,true]", "[0,1.0]", "null", "\"01\"", "{}",
                            "[0,-1]", "[0,1,2]", "[0,99999999999999999999]"}) {
    const auto refused = read(noul(std::string(",\"option_order\":") + order));
    ASSERT_FALSE(refused.ok()) << order;
    EXPECT_TRUE(refused.error().message.starts_with(
        "question 'q': 'option_order' must be a permutation of range(2) -- one slot per option, "
        "each option once -- got "))
        << refused.error().message;
  }
  check_refused(noul(R"(,"option_order":[1,true])"),
                "'option_order' must be a permutation of range(2) -- one slot per option, each "
                "option once -- got [1, True]");
}

TEST(DecisionSchema, Types) {
  const auto unknown = [](const std::string& definition, const std::string& repr) {
    check_refused(definition, "unknown type " + repr + "; use one of ['choice', 'noul', 'score']");
  };
  unknown(R"({"instructions":"x"})", "None");
  unknown(R"({"type":null})", "None");
  unknown(R"({"type":"bool"})", "'bool'");
  unknown(R"({"type":"Noul"})", "'Noul'");
  unknown(R"({"type":["noul"]})", "['noul']");
  unknown(R"({"type":{"noul":1}})", "{'noul': 1}");
  unknown(R"({"type":true})", "True");
  unknown(R"({"type":2})", "2");
  check_refused(R"("x")", "definition must be a dict, got str");
  check_refused("null", "definition must be a dict, got NoneType");
  check_refused("[]", "definition must be a dict, got list");
}

TEST(DecisionSchema, Instructions) {
  const std::string empty =
      "'instructions' must not be empty; add the text the model should answer";
  check_refused(R"({"type":"noul"})", "no 'instructions'; add the text the model should answer");
  check_refused(R"({"type":"noul","instructions":null})",
                "'instructions' must not be None; add the text the model should answer");
  for (const char* blank : {R"("")", R"(" \n\u3000")", "{}", "[]"}) {
    check_refused(std::string(R"({"type":"noul","instructions":)") + blank + "}", empty);
  }
  const auto check = [](const char* instructions, const char* expected) {
    const auto question =
        read(std::string(R"({"type":"noul","instructions":)") + instructions + "}");
    ASSERT_TRUE(question.ok()) << instructions;
    EXPECT_EQ(question->instructions, expected);
  };
  check(R"("  kept as it is ")", "  kept as it is ");
  check(R"({"ask":"größer?"})", R"({"ask": "größer?"})");
  check(R"(["a",1.0])", R"(["a", 1.0])");
  check("true", "true");
  check("0", "0");
}

TEST(DecisionSchema, MissingInstructionsLeniency) {
  const auto accept = [](const std::string& definition) {
    const auto question = read(definition, true);
    ASSERT_TRUE(question.ok()) << definition;
    EXPECT_EQ(question->instructions, "q");
    EXPECT_FALSE(read(definition).ok());
  };
  accept(R"({"type":"choice","criteria":["a"]})");
  accept(R"({"type":"choice","instructions":null,"criteria":["a"]})");
  accept(R"({"type":"score","criteria":["a"]})");
  accept(R"({"type":"noul","criteria":{"true":"a"}})");
  for (const char* refused : {R"({"type":"noul"})", R"({"type":"noul","criteria":{"true":null}})",
                              R"({"type":"noul","criteria":["a"]})",
                              R"({"type":"choice","instructions":"","criteria":["a"]})"}) {
    EXPECT_FALSE(read(refused, true).ok()) << refused;
  }
}

TEST(DecisionSchema, QuestionIds) {
  const auto check = [](const std::string& json, const char* expected) {
    const auto set = parse_questions(json, {});
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().message, expected);
  };
  check(R"({"":{}})", "question id must be a non-empty string, got ''");
  check(R"({" \t":{}})", R"(question id must be a non-empty string, got ' \t')");
  check(R"({"it's":{}})",
        "question \"it's\": unknown type None; use one of ['choice', 'noul', 'score']");
}

TEST(DecisionSchema, PlainQuestion) {
  const auto question = decision::read_plain_question("Is it urgent?");
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->id, "Is it urgent?");
  EXPECT_EQ(question->instructions, "Is it urgent?");
  EXPECT_EQ(question->type, QuestionType::kNoul);
  EXPECT_FALSE(decision::read_plain_question("  ").ok());
}

}  // namespace
}  // namespace layard
