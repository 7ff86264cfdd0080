"""Function words of languages in Latin letters, which say what language a text is in and little about its subject."""

from __future__ import annotations

from typing import Final

__all__ = ["CHINESE", "STOP_WORDS"]

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": (
            "a about above after again against all am an and any are as at be because been before being below "
            "between both but by can cannot could did do does doing down during each few for from further had has "
            "have having he her here hers herself him himself his how i if in into is it its itself just let me "
            "more most my myself no nor not now of off on once only or other our ours ourselves out over own same "
            "shall she should so some such than that the their theirs them themselves then there these they this "
            "those through to too under until up very was we were what when where which while who whom why will "
            "with would you your yours yourself yourselves also ever might must"
        ),
        "german": (
            "aber alle als am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des die "
            "dir dich doch du durch ein eine einem einen einer eines er es für hat hatte habe haben ich ihm ihn "
            "ihr im in ist ja kann kein keine man mein meine mich mir mit nach nicht noch nur ob oder schon sehr "
            "sein seine sich sie sind so über um und uns unser unter vom von vor war waren was wenn wer werden "
            "wie wir wird wo zu zum zur"
        ),
        "french": (
            "à au aux avec ce ces cet cette dans de des du elle elles en est et eu été être eux il ils je la le "
            "les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où par pas pour qu que "
            "quel quelle qui sa sans se ses si son sont sur ta te tes toi ton tu un une vos votre vous c d j l m "
            "n s t y ai as a avait était"
        ),
        "spanish": (
            "a al algo ante como con cual cuál cuándo cuando de del desde donde dónde el él ella ellos en entre "
            "era es esa ese eso esta está están este esto fue ha había han hasta hay la las le les lo los más me "
            "mi mí mis muy nada ni no nos o para pero por porque qué que quién quien se sé ser si sí sin sobre "
            "son su sus también te tengo ti tiene tu tú tus un una uno y ya yo"
        ),
        "portuguese": (
            "a ao aos as com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta está "
            "este eu foi há isso isto já lhe mais mas me meu meus minha minhas muito na não nas nem no nos o onde "
            "os ou para pela pelo por porque qual quando que quem se sem ser seu seus só sua suas também te tem "
            "tenho um uma você"
        ),
        "italian": (
            "a ad ai al alla alle anche che chi ci come con cosa da dal dalla degli dei del della delle di dove e "
            "è ed era gli ha hai hanno ho i il in io la le lei li lo loro lui ma mi mia mio ne nei nel nella no "
            "noi non o per perché più quale quando quella quello questa questo se sei si sono sta su sua sul "
            "sulla suo ti tra tu tua tuo un una uno vi voi"
        ),
        "dutch": (
            "aan al als bij dat de der deze die dit door dus een en er ge geen had heb hebben heeft het hij hoe "
            "hun ik in is ja je jij kan maar me meer mijn met na naar niet nog nu of om ook op over te tot uit "
            "van veel voor waar waren was wat we wel werd wie wij worden zal ze zich zij zijn zo zou"
        ),
        "swedish": (
            "alla att av blev blir da de dem den denna det detta dig din du där efter ej eller en er ett från för "
            "ha hade han har hon hur här i icke inte jag kan man med men mig min mot mycket ni nu när och om oss "
            "på sedan sig sin ska som så till under upp ut vad var vem vi vid vilken är över"
        ),
        "danish": (
            "af alle at blev bliver da de dem den denne der deres det dette dig din dog du efter eller en er et "
            "for fra ham han hans har have hun hvad hvem hvor hvornår i ikke ind jeg jer kan man med meget men "
            "mig min mit mod ned noget nu når og også om op os over på sig skal som så til ud var ved vi vil"
        ),
        "norwegian": (
            "alle at av bare ble blir da de deg dem den der det dette din du eller en er et etter for fra før ha "
            "hadde han har hun hva hvem hvor hvordan i ikke inn jeg kan kom man med meg mellom men min mot mye "
            "ned noe nå når og også om opp oss over på seg skal som så til ut var ved vi vil være"
        ),
        "finnish": (
            "ei eivät en että ette hän hänen he ja jo joka jos jotka kanssa kuin kun kuka me mikä minä minun "
            "missä mitä milloin mutta myös ne niin nyt oli olen olet olla on ovat se sen sinä sinun sitä tai tämä "
            "tässä te vain voi"
        ),
        "polish": (
            "a aby ale bo był była było być co czy dla do gdy gdzie go i ich im ja jak jako je jego jej jest "
            "jeszcze już kiedy kto który która ma mam mi mnie moja mój może na nad nie niż o od on ona oni po pod "
            "przez przy się są ta tak także tam te tego ten to tu twój ty tylko w we z za ze że"
        ),
        "czech": (
            "a aby ale ani asi až bude by byl byla být co či do ho i já jak jako je jeho její jen jeho jsem jsi "
            "jsme jsou k kde kdo kdy když která který ma má mám mě mi mně můj na nad ne nebo než o od on ona po "
            "pod pro proč při s se si ta tak také ten to tvůj ty u už v ve vy z za ze že"
        ),
        "hungarian": (
            "a abban ahol aki amely ami az azt be csak de e egy én és ez ezt fel ha hogy hol hogyan ide igen itt "
            "ki kell le lesz már meg mely mert mi miért mikor minden mint nagyon nem nincs ő olyan ők pedig s sem "
            "te ti úgy van vagy vagyok volt"
        ),
        "romanian": (
            "a acest această ai al ale am ar are aș au avea ca când care ce cel cine ci cu cum da dar de din după "
            "ea ei el este eu fi fost în la le lor lui mai mea mei meu mi nu o pe pentru până sau să se și sunt "
            "ta te tu un unde unei unui va"
        ),
        "turkish": (
            "acaba ama ancak bana bazı ben beni benim bir biri biz bu çok çünkü da daha de değil diye en gibi hem "
            "hep her için ile ise kadar ki kim mı mi mu mü nasıl ne neden nerede o olan olarak olduğu oldu onu "
            "onun sen şey siz şu ve veya var ya yok"
        ),
        "catalan": (
            "a al als amb aquest aquesta són com de del dels des el ella ells els em en entre era és està ha han "
            "hi i la les li lo més me meu meva mi molt no nosaltres o on per perquè però què qui quan que se "
            "sense seu seva si també te té tu un una vaig va"
        ),
        "indonesian": (
            "ada adalah akan aku anda apa atau bagaimana bahwa belum bisa dalam dan dari dengan di dia ini itu "
            "jika juga kami kamu kapan karena ke kita lagi mana mereka nya oleh pada saya sebagai siapa sudah "
            "telah tidak untuk yang"
        ),
    }.items()
}
"""The commonest function words by the name that snowballstemmer gives a language; lower case, with their accents."""

CHINESE: Final = frozenset("的了是在我你他她它们这那有和就不也都很吗呢吧啊么个与及或之其为于着过被把给让从到对向")
"""Characters that are no search terms by themselves."""
