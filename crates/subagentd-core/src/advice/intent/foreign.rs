//! Orders and questions in other languages, as far as the first words of a sentence tell.

use super::token::Token;

const CHANGE: &str = "
    añade añada añadir agrega agregue agregar implementa implemente implementar corrige corrija corregir arregla arregle
    arreglar elimina elimine eliminar borra borre borrar cambia cambie cambiar reemplaza reemplace reemplazar actualiza
    actualice actualizar crea cree crear renombra renombrar refactoriza refactorizar mueve mover quita quitar escribe
    ergänze ergänzen implementiere implementieren behebe beheben repariere reparieren entferne entfernen lösche löschen
    ersetze ersetzen erstelle erstellen füge fügen ändere ändern aktualisiere aktualisieren verschiebe schreibe
    korrigiere korrigieren baue verbessere benenne erweitere refaktoriere passe
    ajoute ajoutez ajouter implémente implémentez implémenter corrigez corriger répare réparez réparer supprime
    supprimez supprimer remplace remplacez remplacer crée créez créer modifie modifiez modifier renomme renommez
    renommer déplace mets refactorise améliore
    adicione adicionar acrescente remova remover substitua crie criar altere atualize conserte implementar
    aggiungi aggiungere implementa correggi correggere rimuovi rimuovere sostituisci crea aggiorna rinomina";

const LOOK: &str = "
    explica explique explicar describe describir revisa revise revisar analiza analice analizar busca buscar encuentra
    encontrar lista listar resume resumir investiga investigar compara comparar muestra dime enumera
    erkläre erklären beschreibe beschreiben prüfe prüfen analysiere analysieren suche suchen finde finden zeige zeigen
    vergleiche vergleichen untersuche untersuchen nenne liste fasse überprüfe bewerte ermittle
    explique expliquez expliquer décris décrivez décrire analyse analysez analyser cherche cherchez chercher trouve
    trouvez trouver résume résumez résumer liste listez compare comparez vérifie vérifiez examine examinez montre
    explica descreva revise analise procure liste resuma
    spiega descrivi analizza cerca trova riassumi elenca confronta verifica";

const NEGATES: &str = "no sin nichts nicht ohne kein keine ne n'y pas sans rien não sem non senza nada solo sólo nur seulement uniquement";

/// Forms of editing that no English sentence has.
const EDITS: &str = "
    modifiques modifique modificar cambies cambie cambiar edites edite editar toques toque tocar modificando editando
    ändern ändere ändert bearbeite bearbeiten verändere verändern anfassen geändert
    modifie modifiez modifier changez changer touche touchez toucher
    modificare modifichi cambiare toccare altere alterar";

/// What a sentence of another language says, as far as this is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Foreign {
    Change,
    Look,
    /// Nothing may be changed.
    Forbids,
    /// A change, and a word that may take it back.
    Doubt,
}

pub(super) fn read(tokens: &[Token]) -> Option<Foreign> {
    let any = |list: &str| tokens.iter().any(|token| has(list, token.word()));
    let negated = any(NEGATES);
    if negated && any(EDITS) {
        return Some(Foreign::Forbids);
    }
    let head =
        tokens.iter().map(Token::word).find(|word| !has("por favor bitte merci svp porfa prego favore", word))?;
    if has(CHANGE, head) {
        return Some(if negated { Foreign::Doubt } else { Foreign::Change });
    }
    has(LOOK, head).then_some(Foreign::Look)
}

fn has(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|known| known == word)
}
