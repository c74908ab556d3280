"""Stop words of three or more letters (English: scikit-learn's), and a language's detection."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import UnusableError

AUTO, BY_FREQUENCY, NONE = "auto", "frequency", "none"
LANGUAGES = {
    **{"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian"},
    **{"pt": "Portuguese", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "pl": "Polish"},
    "ru": "Russian",
}
CHOICES = (AUTO, *LANGUAGES, BY_FREQUENCY, NONE)
_FEWEST = 0.05  # minimal share of stop words in a detected language

_LISTS = {
    "de": """aber alle allem allen aller alles als also ander andere anderem anderen anderer
    anderes auch auf aus bei beim bin bis bist dabei dadurch dafür daher damit dann daran darauf
    darum das dass dasselbe davon dazu dein deine deinem deinen deiner dem den denn der derer des
    dessen dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort durch ein eine
    einem einen einer eines einige einigen einmal etwas euch euer eure für gegen gewesen hab habe
    haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer ins
    ist jede jedem jeden jeder jedes jedoch jene jener jetzt kann kein keine keinem keinen keiner
    können könnte machen man manche manchem mehr mein meine meinem meinen meiner mich mir mit muss
    musste nach nicht nichts noch nun nur oder ohne sehr sein seine seinem seinen seiner seit
    selbst sich sie sind soll sollte sondern sonst und uns unser unsere unter viel vom von vor war
    waren warum was weg weil weiter welche welchem welchen welcher wenn wer werde werden wie wieder
    will wir wird wirst wollen worden wurde wurden während würde würden zum zur zwar zwischen
    über""",
    "fr": """afin ainsi alors après aucun aucune aurait aussi autre autres aux avaient avait avant
    avec avez avoir avons bien car ceci cela celle celles celui ces cet cette ceux chaque chez
    comme comment dans depuis des doit donc dont dès elle elles encore entre est eux faire fait fut
    ici ils jamais jusque les leur leurs lors lorsque lui mais mes moi moins mon même mêmes non nos
    notre nous ont par parce pas pendant peu peut peuvent plus pour pourquoi puis puisque quand que
    quel quelle quelles quelque quelques quels qui quoi sans sera serait ses seulement sinon soi
    soient sois soit sommes son sont sous suis sur tandis tant tel telle tes toi ton toujours tous
    tout toute toutes très une vers voici voilà vos votre vous étaient était étant été être""",
    "es": """algo alguna algunas alguno algunos ante antes aquel aquella aquellos aquí así aunque
    aún bajo bien cada casi como con contra cual cuales cualquier cuando cuanto del desde donde dos
    durante ella ellas ello ellos entonces entre era eran eres esa esas ese eso esos estaba estaban
    estado estamos estar estas este esto estos estoy está están fue fueron fui gran hace hacer
    hacia han has hasta hay haya hemos incluso las les los luego mas mejor menos mientras mis misma
    mismo mucha muchas mucho muchos muy más nada nos nosotros nuestra nuestras nuestro nuestros
    nunca otra otras otro otros para pero poco por porque puede pueden pues que quien quienes qué
    según ser será sido siempre siendo sin sino sobre son soy sus suya suyo tal también tampoco tan
    tanto tenemos tener tengo tenía tiene tienen toda todas todavía todo todos tras tus una unas
    uno unos usted ustedes vez vosotros""",
    "it": """abbiamo agli alcune alcuni alla alle allo allora altra altre altri altro anche ancora
    avere aveva avevano avrebbe che chi cioè ciò come con cosa così cui dagli dai dal dalla dalle
    dallo degli dei del della delle dello dentro deve dopo dove due ecco era erano essa esse essere
    essi fare fino fra fuori già gli hanno infatti invece lei loro lui mai male meno mentre mia mie
    miei mio molta molte molti molto negli nei nel nella nelle nello nessuno noi non nostra nostre
    nostri nostro nulla ogni ognuno oppure per perché però più poco poi prima proprio può qual
    qualche quale quali quando quanto quasi quella quelle quelli quello questa queste questi questo
    qui quindi sarebbe sarà sei sempre senza sia siamo siano sono sopra sotto stata stati stato sua
    sue sugli sui sul sulla sulle suo suoi tanto tra tua tue tuo tuoi tutta tutte tutti tutto una
    uno verso voi vostra vostro""",
    "pt": """ainda algo algum alguma algumas alguns ante antes aos apenas após aquela aquelas
    aquele aqueles aquilo assim até bem cada com como contra contudo cujo das dela delas dele deles
    depois desde dessa desse desta deste disso disto dos durante ela elas ele eles embora enquanto
    entre então era eram essa essas esse esses esta estas estava estavam este estes estou está
    estão fazer foi for foram fosse haver isso isto lhe lhes logo mais mas menos mesma mesmo meu
    meus minha minhas muita muitas muito muitos nada nas nem nenhum nessa nesse nesta neste nos
    nossa nossas nosso nossos num numa nunca não nós onde ora outra outras outro outros para pela
    pelas pelo pelos pode podem pois por porque porém pouco quais qual qualquer quando quanto que
    quem seja sejam sem sempre sendo ser será seu seus sido sob sobre sou sua suas são também tem
    tenho ter teu toda todas todo todos tudo tão têm uma umas uns você vocês vos""",
    "nl": """aan alle alleen alles als altijd andere ben bij bijna daar daarom dan dat deze die dit
    doch doen door dus een eens elk elke enkele ergens geen geweest haar had hadden heb hebben
    heeft heel hem het hier hij hoe hun iemand iets jullie kan kon kunnen maar meer men met mij
    mijn misschien moet moeten naar niemand niet niets nog nooit omdat onder ons onze ook over
    reeds sinds steeds tegen terwijl toch toen tot tussen uit van vanaf veel verder voor voordat
    waar waarom want waren was wat weer wel welke werd werden wie wil worden wordt zal zei zelf
    zelfs zich zij zijn zoals zonder zou zouden zulke""",
    "sv": """alla allt alltid andra annan annat att bara bland blev bli blir blivit både den denna
    deras dess dessa det detta dig din dina ditt dock där därför efter eftersom eller enligt era
    ett finns från för före genom hade han hans har hej hela henne hennes hon honom hur här icke
    ingen inget inom inte jag just kan kanske kommer kunde kunna man med mellan men mer mera mig
    min mina mitt mot mycket när någon något några och också oss redan samma samt sedan sig sin
    sina sitt ska skall skulle som sådan sådana till under upp utan vad var vara varför varit varje
    vars vart vem vid vilka vilken vilket vill vår våra vårt ännu över""",
    "da": """alle alt anden andet andre bare begge blev blive bliver dem den denne der deres det
    dette dig din dine disse dog efter eller end endnu findes for fordi fra får før ham han hans
    har havde have hele hende hendes her hos hun hvad hver hvilken hvis hvor hvordan hvorfor
    hvornår igen igennem ikke ind ingen intet jeg jer jeres kan kommer kun kunne man mange med
    meget mellem men mere mig min mine mit mod ned nej nogen noget nogle nok når nær også over
    samme selv sig sin sine sit skal skulle som stor sådan thi til uden under var ved vil ville vor
    vore være været""",
    "pl": """aby albo ale ależ bardziej bardzo bez bym być był była było były będzie będą chce choć
    ciebie coś czego czemu czy czyli dla dlaczego dlatego dobrze dokąd dość dwa gdy gdyby gdyż
    gdzie ich ile inna inne inny innych jak jaka jakaś jaki jakie jako jakoś jednak jego jej jemu
    jest jestem jeszcze jeśli jeżeli już kiedy kilka kogo komu kto która które którego której który
    których którym którymi którzy lecz lub mają mam mamy mimo między mnie mną może możliwe można
    musi mój nad nam nami nas nasz nasza nasze natomiast nawet nic nich nie niego niej nigdy nim
    nimi nią niż obok ona one oni ono oraz oto pod podczas pomimo ponad ponieważ poza przed przede
    przez przy roku również sam sama się skąd sobie sposób swoje taka taki takich takie także tam
    tego tej temu ten teraz też tobie toteż trzeba tutaj twoim twój tych tylko tym wam wami was
    wasz według wiele więc więcej wszyscy wszystkie wszystko wtedy właśnie żaden żadna żadne
    żeby""",
    "ru": """без более больше будет будто был была были было быть вам вами вас ваш ведь весь вместе
    вот все всегда всего всем всех всю где год даже для его ему если есть еще ещё здесь или иметь
    ими каждый как какая какой когда которая которого которой которые который которых кто куда лишь
    между меня мне много может можно мой мочь нам нас наш него нее ней нельзя нет нечего неё ним
    них ничего однако она они оно опять очень перед под после потом потому почему почти при про раз
    разве сам сама свое своей своих свой свою себе себя сейчас сказать скоро совсем так такая также
    такие такой там тебе тебя тем теперь тех тогда того тоже той только том тот три тут уже хоть
    хотя чего чем через что чтоб чтобы чуть эта эти этих это этого этой этом этот эту""",
}


def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language; empty where it is none of LANGUAGES."""
    if language == "en":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(_LISTS.get(language, "").split())


def check_choice(choice: str) -> str:
    """The choice by its short name; raises UnusableError if it is no language."""
    named = {name.lower(): code for code, name in LANGUAGES.items()}
    code = named.get(choice.strip().lower(), choice.strip().lower())
    if code not in CHOICES:
        fault = f"there are no stop words for “{choice}”"
        raise UnusableError(fault, where="option stop_words", cure=f"use {', '.join(CHOICES)}")
    return code


def guess_language(counts: Mapping[str, float]) -> str:
    """The language with the largest share of stop words among lower-case words, if any."""
    total = sum(counts.values())
    shares = {
        language: sum(counts.get(word, 0) for word in stop_words(language)) / (total or 1)
        for language in LANGUAGES
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= _FEWEST else BY_FREQUENCY
