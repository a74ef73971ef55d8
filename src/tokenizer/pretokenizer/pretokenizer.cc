#include "tokenizer/pretokenizer/pretokenizer.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalizer/normalizer.h"
#include "tokenizer/pretokenizer/word_split.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

// Cuts every text piece into single matching characters and the text between them.
template <class IsMatch>
void split_characters(Pieces& pieces, SplitBehavior behavior, IsMatch is_match) {
  const std::string_view text = pieces.text();
  std::vector<SplitPart> parts;
  pieces.recut([&](std::size_t begin, std::size_t end) {
    parts.clear();
    std::size_t open = begin;
    for (std::size_t i = begin; i < end;) {
      const Utf8Char c = next_char(text, i);
      if (is_match(c.code_point)) {
        if (open < i) parts.push_back({open, i, false});
        parts.push_back({i, i + c.bytes, true});
        open = i + c.bytes;
      }
      i += c.bytes;
    }
    if (open < end) parts.push_back({open, end, false});
    add_split(parts, behavior, pieces);
  });
}

auto has_class(std::uint16_t bit) {
  return [bit, &classes = CharClasses::get()](char32_t c) { return (classes(c) & bit) != 0; };
}

void cut_gpt2_words(Pieces& pieces) {
  const CharClasses& classes = CharClasses::get();
  const std::string_view text = pieces.text();
  pieces.recut([&](std::size_t begin, std::size_t end) {
    // A piece is a text of its own: the pattern does not see what follows it.
    const std::string_view piece = text.substr(0, end);
    while (begin < end) {
      const std::size_t next = gpt2_word_end(piece, begin, classes);
      pieces.add_text(begin, next);
      begin = next;
    }
  });
}

void apply_step(const ByteLevel& step, Pieces& pieces) {
  if (step.add_prefix_space) {
    pieces.rewrite([](std::string_view piece, std::string& out) {
      if (!piece.starts_with(' ')) out.push_back(' ');
      out.append(piece);
    });
  }
  if (step.use_regex) cut_gpt2_words(pieces);
  if (step.spell) pieces.rewrite(append_byte_spelling);
}

void apply_step(const Metaspace& step, Pieces& pieces) {
  const auto prepends = [&](std::size_t begin) {
    return step.prepend == Metaspace::Prepend::kAlways ||
           (step.prepend == Metaspace::Prepend::kFirst && begin == 0);
  };
  const char* origin = pieces.text().data();
  pieces.rewrite([&](std::string_view piece, std::string& out) {
    const bool opens = piece.starts_with(' ') || piece.starts_with(step.replacement);
    if (!opens && prepends(static_cast<std::size_t>(piece.data() - origin))) {
      out.append(step.replacement);
    }
    append_replaced(piece, " ", step.replacement, out);
  });
  if (!step.split) return;
  const std::string_view text = pieces.text();
  pieces.recut([&](std::size_t begin, std::size_t end) {
    const std::string_view piece = text.substr(0, end);
    std::size_t at = piece.find(step.replacement, begin);
    while (at != std::string_view::npos) {
      pieces.add_text(begin, at);
      begin = at;
      at = piece.find(step.replacement, at + step.replacement.size());
    }
    pieces.add_text(begin, end);
  });
}

void apply_step(const Split& step, Pieces& pieces) {
  const CharClasses& classes = CharClasses::get();
  const std::string_view text = pieces.text();
  std::vector<SplitPart> parts;
  pieces.recut([&](std::size_t begin, std::size_t end) {
    const std::string_view piece = text.substr(0, end);
    parts.clear();
    while (begin < end) {
      const std::size_t at = step.gpt2 ? begin : piece.find(step.pattern, begin);
      if (at == std::string_view::npos) break;
      const std::size_t after =
          step.gpt2 ? gpt2_word_end(piece, begin, classes) : at + step.pattern.size();
      if (begin < at) parts.push_back({begin, at, step.invert});
      parts.push_back({at, after, !step.invert});
      begin = after;
    }
    if (begin < end) parts.push_back({begin, end, step.invert});
    add_split(parts, step.behavior, pieces);
  });
}

void apply_step(const BertSplit& /*step*/, Pieces& pieces) {
  const CharClasses& classes = CharClasses::get();
  const std::string_view text = pieces.text();
  pieces.recut([&](std::size_t begin, std::size_t end) {
    std::size_t open = begin;
    for (std::size_t i = begin; i < end;) {
      const Utf8Char c = next_char(text, i);
      const std::uint16_t bits = classes(c.code_point);
      if ((bits & (kSpace | kPunctuation)) != 0) {
        pieces.add_text(open, i);
        open = i + c.bytes;
        if ((bits & kSpace) == 0) pieces.add_text(i, open);
      }
      i += c.bytes;
    }
    pieces.add_text(open, end);
  });
}

void apply_step(const WordRuns& /*step*/, Pieces& pieces) {
  const CharClasses& classes = CharClasses::get();
  const std::string_view text = pieces.text();
  pieces.recut([&](std::size_t begin, std::size_t end) {
    std::size_t open = begin;
    int kind = 0;  // of the run that is open: 0 white space, 1 word, 2 neither
    for (std::size_t i = begin; i < end;) {
      const Utf8Char c = next_char(text, i);
      const std::uint16_t bits = classes(c.code_point);
      const int next = (bits & kWord) != 0 ? 1 : (bits & kSpace) != 0 ? 0 : 2;
      if (next != kind) {
        if (kind != 0) pieces.add_text(open, i);
        open = i;
        kind = next;
      }
      i += c.bytes;
    }
    if (kind != 0) pieces.add_text(open, end);
  });
}

void apply_step(const SpaceSplit& /*step*/, Pieces& pieces) {
  split_characters(pieces, SplitBehavior::kRemoved, has_class(kSpace));
}

void apply_step(const Punctuation& step, Pieces& pieces) {
  split_characters(pieces, step.behavior, has_class(kPunctuation));
}

void apply_step(const Digits& step, Pieces& pieces) {
  split_characters(pieces, step.individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous,
                   has_class(kNumeric));
}

void apply_step(const Delimiter& step, Pieces& pieces) {
  const char32_t delimiter = next_char(step.character, 0).code_point;
  split_characters(pieces, SplitBehavior::kRemoved,
                   [delimiter](char32_t c) { return c == delimiter; });
}

}  // namespace

void PreTokenizer::apply(Pieces& pieces) const {
  for (const PreTokenizerStep& step : steps_) {
    std::visit([&pieces](const auto& known) { apply_step(known, pieces); }, step);
  }
}

}  // namespace layard::tokenizer
