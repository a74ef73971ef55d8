#include "language/words.h"

#include <algorithm>
#include <unordered_map>

namespace layard::language {
namespace {

constexpr WordList kLists[kLanguages] = {
    {"en",
     "and are as at be but can for from has have i in is it not of on please that the their "
     "there this to was we were what which will with would you"},
    {"fr",
     "alors au aux avec bien bonjour ce ces cette comment dans des deux dois doit donc du elle "
     "elles est et fait fois il ils je jour jours la le les ma mais merci mes mois mon nous "
     "ont ou pas peut peux plus pour pourquoi quand que qui sa ses sont sur ta tes ton tous "
     "tout toute trois très tu une veut veux vous être"},
    {"de",
     "aber auch auf aus bei bitte das dem den der dich die diese diesen dieser dieses dir ein "
     "eine einem einen einer für gibt habe haben heute ich im in ist jetzt kann kannst mein "
     "meine meinem meinen meiner mich mir mit nach nicht noch oder sich sind und uns von wann "
     "was welche werden wie wir wird wo wurde zu zum zur"},
    {"es",
     "al algo aquí aunque como con cuando del donde dos el entre es esa ese eso esta este esto "
     "está fue fueron gracias han hay hemos hoy la las le les lo los mi muy más nada necesito "
     "ni nos para pero por porque puede pueden que quiero se ser sobre son su sus también "
     "tengo tiene tienen todo tres tu un una y ya"},
    {"pt",
     "agora ainda alguem alguém ali antes ao aos aqui as até boa cadê com como consigo da das "
     "depois deu do dois dos e em entao então era esta estamos estava este estou está eu ficou "
     "fiz foi gostaria hoje isso isto ja já mais mas meu meus minha minhas muito na nada nao "
     "nas nenhum nenhuma ninguem ninguém noite nos nossa nosso não o obrigada obrigado olá "
     "onde ontem os para pela pelo pode podem por porque pra preciso quando que quero sao se "
     "ser seu sou sua são tambem também tarde tem tenho três tudo tá um uma vc vcs voce voces "
     "você vocês é"},
    {"it",
     "abbiamo adesso agli alla alle anche ancora avete che ci ciao col come con da dagli dal "
     "dalla dallo degli dei del della delle dello deve devo devono di dove e ed era fra già "
     "gli grazie ha hai hanno ho ieri il la le lo mai mi mia mio molto ne negli nel nell nella "
     "non o oggi per perche più poco quando questa questo scusa sempre si sono stata stato su "
     "sua sul sulla sulle tra tuo un una uno voglio vorrei è"},
    {"nl", "aan dat deze door een het is maar met naar niet ook op te van voor worden wordt zijn"},
    {"ro",
     "aceasta această acest acesta acum ale care dar din după este foarte fost fără lui mi nu "
     "pentru până sunt să trebuie vreau vă în și ți"},
    {"bn",
     "abar ajke akhon amader amake amar ami amra apnake apnar apnara apni ar asbe bhai bhalo "
     "bolte bolun chai chaina dhonnobad dilam dite diye diyechi dorkar duibar ei eita ekbar "
     "ekhon ekhono ekta ferot geche gese hobe hocche hoise hoye hoyeche hoyni jabe jodi jonno "
     "kalke keno keu kharap khub ki kibhabe kichu kintu kivabe kobe kokhon korbo korchi kore "
     "koreche korechi koren korlam korsi korte korun kothay koto lagbe moddhe nai niye oi oita "
     "onek ota pabo paini parben parbo parchi parchina peyechi sathe shathe shob shomossa "
     "somossa tader tahole taka theke tomake tomar tomra tumi valo"},
    {"az",
     "amma ancaq artiq artıq bir biz bu cox daha deyil də eger görə həm hər ile ilə isə kimi "
     "lakin mən nə olan olmasa olub onlar siz sonra sən ucun var ve və yalniz yalnız yox "
     "yoxdur çox üçün əgər"},
};

constexpr char32_t kForeignLetters[] =
    U"ßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿāăąćčďđēęěğģīıķļłńņňőœřśşšţťūůűźżžșțə";

using Index = std::unordered_map<std::string_view, LanguageSet>;

Index make_index() {
  Index index;
  for (std::size_t language = 0; language < kLanguages; ++language) {
    std::string_view words = kLists[language].words;
    while (!words.empty()) {
      const std::size_t blank = std::min(words.find(' '), words.size());
      LanguageSet& set = index[words.substr(0, blank)];
      set = static_cast<LanguageSet>(set | (1U << language));
      words.remove_prefix(std::min(blank + 1, words.size()));
    }
  }
  return index;
}

}  // namespace

std::span<const WordList, kLanguages> word_lists() { return kLists; }

LanguageSet languages_of(std::string_view word) {
  static const Index index = make_index();
  const auto found = index.find(word);
  return found == index.end() ? LanguageSet{0} : found->second;
}

bool is_foreign_letter(char32_t letter) {
  constexpr std::u32string_view kLetters = kForeignLetters;
  return letter >= kLetters.front() && std::ranges::binary_search(kLetters, letter);
}

}  // namespace layard::language
